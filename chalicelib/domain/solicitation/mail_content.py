"""The content of an invitation by e-mail: texts, links, images and colours.

The texts are shortened, so that the HTML of every mail stays below `MAX_HTML_BYTES`. Otherwise,
Gmail would cut off the end of the mail with the unsubscribe link.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from chalicelib.domain.forms.contrast import TONES, blended, legible, levels, visible_fill
from chalicelib.domain.forms.field_types import Control
from chalicelib.domain.forms.fields import SavedField
from chalicelib.domain.forms.language_choice import choose_language
from chalicelib.domain.forms.layout import fields_in_order
from chalicelib.domain.forms.option_texts import control_texts, own_labels
from chalicelib.domain.forms.option_words import option_words_in
from chalicelib.domain.forms.placeholders import fill_titles
from chalicelib.domain.forms.pre_redirect import SurveyTranslation
from chalicelib.domain.forms.presentation import Image, Radius
from chalicelib.domain.forms.public.form import translate
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import visit_line
from chalicelib.domain.forms.translation import FieldTranslation
from chalicelib.domain.language import Language, is_right_to_left
from chalicelib.domain.plain_text import plain_name, shortened
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.links import with_answers
from chalicelib.domain.solicitation.words import MessageWords, message_words

MAX_HTML_BYTES: Final = 60_000

_MAX_LINE: Final = 200
_MAX_PARAGRAPH: Final = 1_000
_MAX_LABEL: Final = 40
_MAX_URL: Final = 1_000
_MAX_LOGO_WIDTH: Final = 200
_MAX_LOGO_HEIGHT: Final = 96
_MAX_COVER_WIDTH: Final = 600
_CORNERS_PX: Final = {Radius.SHARP: 0, Radius.ROUNDED: 6, Radius.PILL: 24}

_SMILEYS: Final = ("😞", "🙁", "😐", "🙂", "😀")
_CONTROLS: Final = (Control.SCALE, Control.STARS, Control.SMILEYS, Control.BINARY)
"""The controls whose options the mail displays."""
_TONE_OPACITY: Final = "33"
_DARK_CARD: Final = "#1c2228"
"""The background of the mail in dark mode; see the style element of the template."""
_DARK_TONE_OPACITY: Final = "59"
_MIN_CONTRAST: Final = 4.5
_ACCENT: Final = "#1f5fbf"


@dataclass(frozen=True)
class MailLinks:
    """The links of an invitation.

    Attributes:
        survey: the link to the survey page.
        short: a short link to the same page, which the mail displays.
        unsubscribe: the link to the confirmation page.
        is_own_page: whether the service displays the survey.
    """

    survey: str
    short: str
    unsubscribe: str
    is_own_page: bool = True


@dataclass(frozen=True)
class MailImage:
    """An image with its width in pixels; 0 if unknown."""

    url: str
    width: int


@dataclass(frozen=True)
class MailOption:
    """An answer to the first question.

    Attributes:
        link: the link to the survey page that preselects the answer.
        short_link: a short link to the same page, for the text part.
        level: the position from the worst (0) to the best (4) answer.
        background, ink: the colours of the cell, as ``#rrggbb``.
    """

    label: str
    link: str
    short_link: str
    level: int
    background: str
    ink: str


@dataclass(frozen=True)
class MailQuestion:
    """The first question of the survey.

    Attributes:
        ends: the labels of both ends of a scale; empty if each option has its own label.
        note: what happens to the answer.
    """

    label: str
    options: tuple[MailOption, ...]
    ends: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class MailStyle:
    """Colours as ``#rrggbb``, and radii in pixels. The default colours also suit dark mode."""

    text: str
    title: str
    muted: str
    background: str
    accent: str
    button: str
    button_text: str
    dark_button: str
    dark_button_text: str
    divider: str
    radius: int
    button_radius: int


@dataclass(frozen=True, kw_only=True)
class MailContent:
    """The content of a mail in one language.

    Attributes:
        question: the first question; None if it is not a rating question.
        footer: the footer text of the survey.
        visit: the store and the date of the purchase; ``""`` if the title contains both.
        address, legal_text: the texts of the store for the footer.
        languages: the language of each text that is in another language than the mail.
        reminder: explains why the customer receives the survey again; ``""`` in the first mail.
        greeting: the greeting with the customer's name; ``""`` if the name is unknown.
        dark_tones: the backgrounds of options in dark mode, from the worst to the best answer.
    """

    words: MessageWords
    language: Language
    direction: str
    place: str
    subject: str
    title: str
    visit: str
    greeting: str
    reminder: str
    intro: str
    question: MailQuestion | None
    footer: str
    address: str
    legal_text: str
    reason: str
    links: MailLinks
    logo: MailImage | None
    cover: MailImage | None
    style: MailStyle
    languages: Mapping[str, Language]
    dark_tones: tuple[str, ...] = tuple(
        blended(tone + _DARK_TONE_OPACITY, _DARK_CARD) for tone in TONES
    )


def mail_content(invitation: SurveyInvitation, links: MailLinks) -> MailContent:
    """Return the content of the invitation in the customer's language."""
    survey = invitation.survey
    language = invitation_language(survey, invitation.customer.language)
    words = message_words(language)
    texts = survey.translations.get(language, SurveyTranslation())
    context, is_reminder = invitation.context, invitation.solicitation.is_reminder
    header = fill_titles(translate(survey.header, texts.header), context.names(language))
    footer = translate(survey.footer, texts.footer)
    place = shortened(invitation.place_name, _MAX_LINE)
    subject = words.subject % {"place": place}
    style = _style(survey)
    title = shortened(header.title, _MAX_LINE) or subject
    intro = shortened(header.subtitle, _MAX_PARAGRAPH) or words.intro
    store = invitation.store
    return MailContent(
        words=words,
        language=language,
        direction=direction(language),
        place=place,
        subject=words.reminder % {"title": title} if is_reminder else title,
        title=title,
        visit=visit_line(context, language, title),
        greeting=_greeting(invitation.customer.first_name, words),
        reminder=words.still_time if is_reminder else "",
        intro=intro,
        question=_first_question(survey, texts, words, links, style),
        footer=shortened(footer.text, _MAX_PARAGRAPH) if footer.display else "",
        address=shortened(store.address, _MAX_PARAGRAPH) if store else "",
        legal_text=shortened(store.legal_text, _MAX_PARAGRAPH) if store else "",
        reason=words.reason % {"place": place},
        links=links,
        logo=_image(survey.email_logo or survey.logo, _MAX_LOGO_WIDTH, _MAX_LOGO_HEIGHT),
        cover=_image(survey.email_cover or survey.cover, _MAX_COVER_WIDTH),
        style=style,
        languages=_languages(survey, texts, words, language, (title, intro)),
    )


def _languages(
    survey: SavedSurvey,
    texts: SurveyTranslation,
    words: MessageWords,
    language: Language,
    title_and_intro: tuple[str, str],
) -> Mapping[str, Language]:
    """Return the language of each text that is in another language than the mail.

    A text without a translation is in the language of the survey, and a default text in the
    language of the words.
    """
    given = (survey.header.title, survey.header.subtitle)
    translated = (texts.header.title, texts.header.subtitle)
    found = {
        text: language if own_translation else survey.language if own else words.language
        for text, own, own_translation in zip(title_and_intro, given, translated, strict=True)
    }
    found |= {
        shortened(field.label, _MAX_LINE): survey.language
        for field in survey.fields
        if not texts.fields.get(field.key, FieldTranslation()).label
    }
    if not texts.footer.text:
        found[shortened(survey.footer.text, _MAX_PARAGRAPH)] = survey.language
    return {text: spoken for text, spoken in found.items() if spoken != language}


def invitation_language(survey: SavedSurvey, customer: Language | None) -> Language:
    """Return the customer's language if the survey has it, otherwise the survey's language."""
    if not survey.auto_translate or customer is None:
        return survey.language
    return choose_language(survey.language, survey.translations, requested_range=str(customer))


def direction(language: Language) -> str:
    """Return the direction of a language's script: ``ltr`` or ``rtl``."""
    return "rtl" if is_right_to_left(language) else "ltr"


def _greeting(first_name: str | None, words: MessageWords) -> str:
    name = plain_name(first_name)
    return words.greeting % {"name": name} if name else ""


def _first_question(
    survey: SavedSurvey,
    texts: SurveyTranslation,
    words: MessageWords,
    links: MailLinks,
    style: MailStyle,
) -> MailQuestion | None:
    """Return the first question, or None.

    If the survey has a pre-redirect question, this is the field that receives its answer. The mail
    shows no question that depends on another question.
    """
    fields = fields_in_order(survey)
    if survey.pre_redirect and survey.pre_redirect_config:
        asked = survey.pre_redirect_config.field_type
        fields = [field for field in fields if field.type is asked]
    field = next(iter(fields), None)
    if field is None or field.dependencies or field.type.rules.display.control not in _CONTROLS:
        return None
    translation = texts.fields.get(field.key, FieldTranslation())
    labels, ends = _labels(field, translation, words)
    ratings = {value: rating or 0 for value, rating in field.type.rules.options.items()}
    backgrounds = [blended(tone + _TONE_OPACITY, style.background) for tone in TONES]
    inks = [legible(style.text, background, _MIN_CONTRAST) for background in backgrounds]
    return MailQuestion(
        label=shortened(translation.label or field.label, _MAX_LINE),
        options=tuple(
            MailOption(
                label,
                link=link,
                short_link=short_link,
                level=level,
                background=backgrounds[level],
                ink=inks[level],
            )
            for label, link, short_link, level in zip(
                labels,
                with_answers(links.survey, field.key, ratings),
                with_answers(links.short, field.key, ratings),
                levels(ratings.values()),
                strict=True,
            )
        ),
        ends=ends,
        note=words.choose_saved if links.is_own_page and survey.saves_first_tap else words.choose,
    )


def _labels(
    field: SavedField, translation: FieldTranslation, words: MessageWords
) -> tuple[list[str], tuple[str, ...]]:
    """Return the label of each option, and the labels of both ends of a scale."""
    rules = field.type.rules
    own = [shortened(text, _MAX_LABEL) for text in own_labels(field, translation)]
    texts, ends = control_texts(rules, own, option_words_in(words.language))
    labels = list(texts.values())
    match rules.display.control:
        case Control.STARS:
            return [f"{value} ★" for value in rules.options], ()
        case Control.SMILEYS:
            smileys = [f"{n} {smiley}" for n, smiley in enumerate(_SMILEYS, start=1)]
            return smileys, (labels[0], labels[-1])
        case Control.BINARY:
            return [f"👍 {labels[0]}", f"👎 {labels[1]}"], ()
    return labels, ends


def _image(image: Image | None, max_width: int, max_height: int = 0) -> MailImage | None:
    if image is None or len(image.url) > _MAX_URL or urlsplit(image.url).scheme != "https":
        return None
    scale = min(
        1.0,
        max_width / image.width if image.width else 1.0,
        max_height / image.height if max_height and image.height else 1.0,
    )
    return MailImage(image.url, int(image.width * scale))


def _style(survey: SavedSurvey) -> MailStyle:
    """Return the colours and radii of the survey, with legible texts."""
    style = survey.general_style
    background = _colour(style.background_color, "#ffffff")
    button = _colour(style.button_background_color, _colour(style.accent_color, _ACCENT))
    dark_button = visible_fill(button, _DARK_CARD)

    def ink(colour: str, default: str, on: str = background) -> str:
        return legible(_colour(colour, default), on, _MIN_CONTRAST)

    return MailStyle(
        text=ink(style.text_color, "#333f4a"),
        title=ink(style.title_color, "#1f2933"),
        muted=ink(style.subtitle_color, "#52606d"),
        background=background,
        accent=ink(style.accent_color, _ACCENT),
        button=button,
        button_text=ink(style.button_text_color, "#ffffff", button),
        dark_button=dark_button,
        dark_button_text=ink(style.button_text_color, "#ffffff", dark_button),
        divider=_colour(style.divider_color, "#e4e7eb"),
        radius=_CORNERS_PX[style.card_border_radius],
        button_radius=_CORNERS_PX[style.button_radius],
    )


def _colour(value: str, default: str) -> str:
    """Return the colour as ``#rrggbb``, because some mail clients do not support transparency."""
    if not value:
        return default
    digits = value[1:]
    if len(digits) <= 4:
        digits = "".join(digit * 2 for digit in digits)
    return f"#{digits[:6].lower()}"
