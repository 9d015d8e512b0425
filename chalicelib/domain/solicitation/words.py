"""The words of invitations and of the unsubscribe page, in the language of the customer.

All source strings are in this module, in English, as calls of gettext functions. Pages have the
same catalogues (`infrastructure/catalogues`), compiled without these messages. A language without a
catalogue in `locale/` uses the source strings. The texts of a survey take precedence.
"""

import gettext
from functools import cache
from pathlib import Path
from typing import Final

from chalicelib.domain.language import Language

DOMAIN: Final = "messages"
LOCALES: Final = Path(__file__).with_name("locale")
_ENGLISH: Final = Language("en")


class MessageWords:
    """The words of messages in one language.

    Attributes:
        language: the language of the words.
        subject, intro: the subject and the first sentence, if the survey has no texts.
        greeting: for a customer whose name is known.
        reminder: the subject of a reminder.
        still_time: the first sentence of a reminder.
        reason: explains why the customer receives the message.
        unsubscribe: the text of the unsubscribe link, and of the button on its page.
        sms, sms_reminder: text messages. A single character outside the GSM-7 alphabet can double
            their price, so languages that can avoid such characters do.
        unsubscribed: the title of the page after this button.
        question, done, invalid, failed: the texts of the unsubscribe page.
        colon: the colon after a label, with the space that the language requires.
    """

    def __init__(self, language: Language) -> None:
        name = str(language).replace("-", "_")
        catalogue = gettext.translation(DOMAIN, LOCALES, [name], fallback=True)
        _ = catalogue.gettext
        is_translated = isinstance(catalogue, gettext.GNUTranslations)
        self.language = language if is_translated else _ENGLISH
        self.subject = _("How was your visit to %(place)s?")
        self.greeting = _("Hello %(name)s,")
        self.reminder = _("Reminder: %(title)s")
        self.still_time = _("We have not received your answer yet. There is still time.")
        self.intro = _("Your opinion helps us to improve. It takes less than a minute.")
        self.button = _("Answer the survey")
        self.choose = _("Choose an answer. You can still change it before you send it.")
        self.choose_saved = _(
            "Choose an answer. It is saved as soon as you touch the page that opens. You can still"
            " change it there."
        )
        self.link_hint = _("If the button does not work, open this link:")
        self.reason = _("You receive this message because of your purchase at %(place)s.")
        self.unsubscribe = _("Unsubscribe")
        self.unsubscribed = _("Unsubscribed")
        self.sms = _("%(place)s: how was your visit? %(link)s")
        self.sms_reminder = _("Reminder: %(place)s: how was your visit? %(link)s")
        self.question = _("Do you want to stop receiving surveys at this address or phone number?")
        self.done = _("You are unsubscribed. You will receive no more surveys from this sender.")
        self.invalid = _("This link is invalid. Open the link in the message again.")
        self.failed = _("This did not work. Please try again in a few minutes.")
        self.colon = _(":")


@cache
def message_words(language: Language) -> MessageWords:
    """Return the words in this language, or in English if it has no catalogue."""
    return MessageWords(language)
