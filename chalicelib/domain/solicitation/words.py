"""The words of invitations and of the unsubscribe page, by language.

The texts of a survey take precedence over these words. Languages without an entry use English.
Texts of `sms` contain only characters of the GSM-7 alphabet where the language allows it, because
a single other character can double the price of a message.
"""

from dataclasses import dataclass
from typing import Final

from chalicelib.domain.language import Language

ENGLISH: Final = Language("en")


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words in one language.

    Attributes:
        language: the language of the words.
        subject: the subject of an e-mail if the survey has no title. ``{place}`` is the name of
            the brand or store.
        greeting: for a customer whose name is known. ``{name}`` is the name.
        reminder: marks the subject of a reminder.
        still_time: the first sentence of a reminder.
        intro: the first sentence if the survey has no subtitle.
        button: the text of the button that opens the survey.
        choose: explains the options of the first question.
        satisfied, unsatisfied: the options of a question with two options.
        likelihood, quality: the labels of both ends of a scale.
        link_hint: introduces the link in full.
        reason: explains why the customer receives the message. ``{place}`` is the brand or store.
        unsubscribe: the text of the unsubscribe link, and of the button on its page.
        sms: a text message. ``{place}`` is the brand or store, ``{link}`` the link.
        question: asks for a confirmation on the unsubscribe page.
        done: confirms that the address is unsubscribed.
        invalid: explains that the unsubscribe link is invalid.
        failed: explains that the address could not be unsubscribed.
        colon: the colon after a label, with the space that the language requires.
    """

    language: Language
    subject: str
    greeting: str
    reminder: str
    still_time: str
    intro: str
    button: str
    choose: str
    satisfied: str
    unsatisfied: str
    likelihood: tuple[str, str]
    quality: tuple[str, str]
    link_hint: str
    reason: str
    unsubscribe: str
    sms: str
    question: str
    done: str
    invalid: str
    failed: str
    colon: str = ":"

    def reminded(self, text: str, *, is_text: bool = False) -> str:
        """Return a subject or the start of a text message, marked as a reminder.

        Args:
            is_text: whether a text message contains it. GSM-7 has no no-break space.
        """
        marked = f"{self.reminder}{self.colon} {text}"
        return marked.replace("\u00a0", " ") if is_text else marked


_ALL: Final = (
    Words(
        language=ENGLISH,
        subject="How was your visit to {place}?",
        greeting="Hello {name},",
        reminder="Reminder",
        still_time="We have not received your answer yet. There is still time.",
        intro="Your opinion helps us to improve. It takes less than a minute.",
        button="Answer the survey",
        choose="Choose an answer. You can still change it before you send it.",
        satisfied="Satisfied",
        unsatisfied="Not satisfied",
        likelihood=("Not at all likely", "Extremely likely"),
        quality=("Very bad", "Very good"),
        link_hint="If the button does not work, open this link:",
        reason="You receive this message because of your purchase at {place}.",
        unsubscribe="Unsubscribe",
        sms="{place}: how was your visit? {link}",
        question="Do you want to stop receiving surveys at this address or phone number?",
        done="You are unsubscribed. You will receive no more surveys from this sender.",
        invalid="This link is invalid. Open the link in the message again.",
        failed="This did not work. Please try again in a few minutes.",
    ),
    Words(
        language=Language("fr"),
        subject="Comment s’est passée votre visite chez {place}\u202f?",
        greeting="Bonjour {name},",
        reminder="Rappel",
        still_time="Nous n’avons pas encore reçu votre réponse. Il est encore temps.",
        intro="Votre avis nous aide à progresser. Il vous faudra moins d’une minute.",
        button="Répondre au questionnaire",
        choose="Choisissez une réponse. Vous pourrez la modifier avant de l’envoyer.",
        satisfied="Satisfait",
        unsatisfied="Pas satisfait",
        likelihood=("Pas du tout probable", "Extrêmement probable"),
        quality=("Très mauvais", "Très bon"),
        link_hint="Si le bouton ne fonctionne pas, ouvrez ce lien\u00a0:",
        reason="Vous recevez ce message à la suite de votre achat chez {place}.",
        unsubscribe="Se désabonner",
        sms="{place} : comment s'est passée votre visite ? {link}",
        question="Ne plus recevoir de questionnaires à cette adresse ou à ce numéro\u202f?",
        done="Vous êtes désabonné. Vous ne recevrez plus de questionnaires de cet expéditeur.",
        invalid="Ce lien n’est pas valide. Ouvrez de nouveau le lien du message.",
        failed="L’opération a échoué. Réessayez dans quelques minutes.",
        colon="\u00a0:",
    ),
    Words(
        language=Language("de"),
        subject="Wie war Ihr Besuch bei {place}?",
        greeting="Guten Tag {name},",
        reminder="Erinnerung",
        still_time="Wir haben noch keine Antwort von Ihnen erhalten. Sie können noch antworten.",
        intro="Ihre Meinung hilft uns, besser zu werden. Es dauert weniger als eine Minute.",
        button="Umfrage beantworten",
        choose="Wählen Sie eine Antwort. Sie können sie vor dem Senden noch ändern.",
        satisfied="Zufrieden",
        unsatisfied="Nicht zufrieden",
        likelihood=("Überhaupt nicht wahrscheinlich", "Äußerst wahrscheinlich"),
        quality=("Sehr schlecht", "Sehr gut"),
        link_hint="Falls die Schaltfläche nicht funktioniert, öffnen Sie diesen Link:",
        reason="Sie erhalten diese Nachricht wegen Ihres Einkaufs bei {place}.",
        unsubscribe="Abmelden",
        sms="{place}: Wie war Ihr Besuch? {link}",
        question="Möchten Sie unter dieser Adresse oder Nummer keine Umfragen mehr erhalten?",
        done="Sie sind abgemeldet. Sie erhalten von diesem Absender keine Umfragen mehr.",
        invalid="Dieser Link ist ungültig. Öffnen Sie den Link in der Nachricht noch einmal.",
        failed="Das hat nicht funktioniert. Bitte versuchen Sie es in einigen Minuten erneut.",
    ),
    Words(
        language=Language("es"),
        subject="¿Qué tal su visita a {place}?",
        greeting="Hola, {name}:",
        reminder="Recordatorio",
        still_time="Aún no hemos recibido su respuesta. Todavía está a tiempo.",
        intro="Su opinión nos ayuda a mejorar. Le llevará menos de un minuto.",
        button="Responder a la encuesta",
        choose="Elija una respuesta. Podrá cambiarla antes de enviarla.",
        satisfied="Satisfecho",
        unsatisfied="No satisfecho",
        likelihood=("Nada probable", "Muy probable"),
        quality=("Muy malo", "Muy bueno"),
        link_hint="Si el botón no funciona, abra este enlace:",
        reason="Recibe este mensaje por su compra en {place}.",
        unsubscribe="Darse de baja",
        sms="{place}: ¿qué le ha parecido su visita? {link}",
        question="¿Quiere dejar de recibir encuestas en esta dirección o en este número?",
        done="Se ha dado de baja. No recibirá más encuestas de este remitente.",
        invalid="Este enlace no es válido. Abra de nuevo el enlace del mensaje.",
        failed="No ha funcionado. Inténtelo de nuevo en unos minutos.",
    ),
    Words(
        language=Language("it"),
        subject="Com’è andata la Sua visita da {place}?",
        greeting="Buongiorno {name},",
        reminder="Promemoria",
        still_time="Non abbiamo ancora ricevuto la Sua risposta. È ancora in tempo.",
        intro="La Sua opinione ci aiuta a migliorare. Basta meno di un minuto.",
        button="Rispondere al questionario",
        choose="Scelga una risposta. Potrà modificarla prima di inviarla.",
        satisfied="Soddisfatto",
        unsatisfied="Non soddisfatto",
        likelihood=("Per niente probabile", "Estremamente probabile"),
        quality=("Pessimo", "Ottimo"),
        link_hint="Se il pulsante non funziona, apra questo link:",
        reason="Riceve questo messaggio in seguito al Suo acquisto da {place}.",
        unsubscribe="Annulla l’iscrizione",
        sms="{place}: com'è andata la Sua visita? {link}",
        question="Non vuole più ricevere questionari a questo indirizzo o numero?",
        done="La Sua iscrizione è annullata. Non riceverà altri questionari da questo mittente.",
        invalid="Questo link non è valido. Apra di nuovo il link nel messaggio.",
        failed="L’operazione non è riuscita. Riprovi tra qualche minuto.",
    ),
    Words(
        language=Language("nl"),
        subject="Hoe was uw bezoek aan {place}?",
        greeting="Beste {name},",
        reminder="Herinnering",
        still_time="We hebben uw antwoord nog niet ontvangen. U kunt nog antwoorden.",
        intro="Uw mening helpt ons om beter te worden. Het duurt minder dan een minuut.",
        button="Vragenlijst invullen",
        choose="Kies een antwoord. U kunt het nog wijzigen voordat u het verstuurt.",
        satisfied="Tevreden",
        unsatisfied="Niet tevreden",
        likelihood=("Helemaal niet waarschijnlijk", "Zeer waarschijnlijk"),
        quality=("Heel slecht", "Heel goed"),
        link_hint="Werkt de knop niet? Open dan deze link:",
        reason="U ontvangt dit bericht vanwege uw aankoop bij {place}.",
        unsubscribe="Afmelden",
        sms="{place}: hoe was uw bezoek? {link}",
        question="Wilt u op dit adres of nummer geen vragenlijsten meer ontvangen?",
        done="U bent afgemeld. U ontvangt geen vragenlijsten meer van deze afzender.",
        invalid="Deze link is ongeldig. Open de link in het bericht opnieuw.",
        failed="Dit is niet gelukt. Probeer het over enkele minuten opnieuw.",
    ),
    Words(
        language=Language("pt"),
        subject="Como foi a sua visita a {place}?",
        greeting="Olá, {name}:",
        reminder="Lembrete",
        still_time="Ainda não recebemos a sua resposta. Ainda vai a tempo.",
        intro="A sua opinião ajuda-nos a melhorar. Demora menos de um minuto.",
        button="Responder ao questionário",
        choose="Escolha uma resposta. Pode alterá-la antes de a enviar.",
        satisfied="Satisfeito",
        unsatisfied="Insatisfeito",
        likelihood=("Nada provável", "Extremamente provável"),
        quality=("Muito mau", "Muito bom"),
        link_hint="Se o botão não funcionar, abra este link:",
        reason="Recebe esta mensagem devido à sua compra em {place}.",
        unsubscribe="Cancelar a subscrição",
        sms="{place}: como foi a sua visita? {link}",
        question="Quer deixar de receber questionários neste endereço ou número?",
        done="A sua subscrição foi cancelada. Não receberá mais questionários deste remetente.",
        invalid="Este link não é válido. Abra novamente o link da mensagem.",
        failed="Não foi possível concluir. Tente novamente dentro de alguns minutos.",
    ),
    Words(
        language=Language("ar"),
        subject="كيف كانت زيارتك إلى {place}؟",
        greeting="مرحبًا {name}،",
        reminder="تذكير",
        still_time="لم تصلنا إجابتك بعد. ما زال بإمكانك الإجابة.",
        intro="رأيك يساعدنا على التحسن. لن يستغرق الأمر أكثر من دقيقة.",
        button="الإجابة عن الاستبيان",
        choose="اختر إجابة. يمكنك تغييرها قبل إرسالها.",
        satisfied="راضٍ",
        unsatisfied="غير راضٍ",
        likelihood=("غير محتمل إطلاقًا", "محتمل للغاية"),
        quality=("سيئ جدًا", "جيد جدًا"),
        link_hint="إذا لم يعمل الزر، فافتح هذا الرابط:",
        reason="وصلتك هذه الرسالة بسبب عملية شراء من {place}.",
        unsubscribe="إلغاء الاشتراك",
        sms="{place}: كيف كانت زيارتك؟ {link}",
        question="هل تريد التوقف عن تلقي الاستبيانات على هذا العنوان أو الرقم؟",
        done="تم إلغاء اشتراكك. لن تتلقى مزيدًا من الاستبيانات من هذا المرسل.",
        invalid="هذا الرابط غير صالح. افتح الرابط الموجود في الرسالة مرة أخرى.",
        failed="لم تنجح العملية. حاول مرة أخرى بعد بضع دقائق.",
    ),
    Words(
        language=Language("he"),
        subject="איך היה הביקור אצל {place}?",
        greeting="שלום {name},",
        reminder="תזכורת",
        still_time="עדיין לא קיבלנו את תשובתך. עדיין אפשר לענות.",
        intro="חוות הדעת שלך עוזרת לנו להשתפר. זה לוקח פחות מדקה.",
        button="למענה על הסקר",
        choose="יש לבחור תשובה. אפשר לשנות אותה לפני השליחה.",
        satisfied="מרוצה",
        unsatisfied="לא מרוצה",
        likelihood=("בכלל לא סביר", "סביר ביותר"),
        quality=("גרוע מאוד", "טוב מאוד"),
        link_hint="אם הכפתור לא פועל, אפשר לפתוח את הקישור הזה:",
        reason="הודעה זו נשלחה אליך בעקבות רכישה אצל {place}.",
        unsubscribe="הסרה מרשימת התפוצה",
        sms="{place}: איך היה הביקור? {link}",
        question="להפסיק לשלוח סקרים לכתובת או למספר האלה?",
        done="הוסרת מרשימת התפוצה. לא יישלחו אליך עוד סקרים מהשולח הזה.",
        invalid="הקישור אינו תקין. יש לפתוח שוב את הקישור שבהודעה.",
        failed="הפעולה לא הצליחה. יש לנסות שוב בעוד כמה דקות.",
    ),
    Words(
        language=Language("ja"),
        subject="{place}のご利用はいかがでしたか",
        greeting="{name} 様",
        reminder="再送",
        still_time="まだご回答をいただいておりません。今からでもご回答いただけます。",
        intro="今後の改善のため、ご意見をお聞かせください。一分ほどで終わります。",
        button="アンケートに答える",
        choose="回答をお選びください。送信前に変更できます。",
        satisfied="満足",
        unsatisfied="不満",
        likelihood=("まったくそう思わない", "強くそう思う"),
        quality=("とても悪い", "とても良い"),
        link_hint="ボタンが使えない場合は、次のリンクを開いてください。",
        reason="このメッセージは、{place}のご利用に関してお送りしています。",
        unsubscribe="配信停止",
        sms="{place}: ご利用はいかがでしたか {link}",
        question="このメールアドレスまたは電話番号へのアンケートの配信を停止しますか。",
        done="配信を停止しました。今後、この送信者からアンケートは届きません。",
        invalid="このリンクは無効です。メッセージのリンクをもう一度開いてください。",
        failed="処理できませんでした。数分後にもう一度お試しください。",
        colon="：",
    ),
)

WORDS: Final = {words.language: words for words in _ALL}


def words_in(language: Language) -> Words:
    """Return the words in a language, or in English if there are none in this language."""
    return WORDS.get(language) or WORDS[ENGLISH]
