"""The content of an invitation by e-mail: texts, links, images and colours.

The texts are shortened, so that the HTML of every mail stays below `MAX_HTML_BYTES`. Otherwise,
Gmail would cut off the end of the mail with the unsubscribe link.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from chalicelib.domain.forms.field_types import Control, FieldType
from chalicelib.domain.forms.fields import SavedField
from chalicelib.domain.forms.image import Image
from chalicelib.domain.forms.language_choice import choose_language
from chalicelib.domain.forms.layout import fields_in_order
from chalicelib.domain.forms.presentation import Radius
from chalicelib.domain.forms.public.form import translate
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.translation import FieldTranslation, SurveyTranslation
from chalicelib.domain.language import Language, is_right_to_left
from chalicelib.domain.solicitation.message import SurveyInvitation
from chalicelib.domain.solicitation.words import Words, words_in

MAX_HTML_BYTES: Final = 60_000

_MAX_LINE: Final = 200
_MAX_PARAGRAPH: Final = 1_000
_MAX_URL: Final = 1_000
_MAX_LOGO_WIDTH: Final = 200
_MAX_LOGO_HEIGHT: Final = 96
_MAX_COVER_WIDTH: Final = 600
_CONTROLS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_COLOUR: Final = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_MAX_NAME: Final = 60
_NAME_PUNCTUATION: Final = frozenset(" '\u2018\u2019-\u2010\xb7\u30fb,&()\u05f3\u05f4\u200c\u200d")
"""Characters of names other than letters and marks, after NFKC normalization.

The last four are the Hebrew geresh and gershayim, and the joiners of Persian and Indian names.
"""
_CORNERS_PX: Final = {Radius.SHARP: 0, Radius.ROUNDED: 6, Radius.PILL: 24}

_SMILEYS: Final = ("😞", "🙁", "😐", "🙂", "😀")
_OptionLabels = Callable[[Words], Mapping[str, str]]
_LABELS: Final[Mapping[Control, _OptionLabels]] = {
    Control.SCALE: lambda _: {str(n): str(n) for n in range(11)},
    Control.STARS: lambda _: {str(n): f"{n} ★" for n in range(1, 6)},
    Control.SMILEYS: lambda _: {
        str(n): f"{n} {smiley}" for n, smiley in enumerate(_SMILEYS, start=1)
    },
    Control.BINARY: lambda words: {
        "satisfied": f"👍 {words.satisfied}",
        "unsatisfied": f"👎 {words.unsatisfied}",
    },
}
"""For each control, a function that returns the label of each option by the preselected answer."""


@dataclass(frozen=True)
class MailLinks:
    """The links of an invitation.

    Attributes:
        survey: the link to the survey page.
        unsubscribe: the link to the confirmation page.
        prefilled: returns the survey link that preselects an answer, for a field key and an answer.
    """

    survey: str
    unsubscribe: str
    prefilled: Callable[[str, str], str]


@dataclass(frozen=True)
class MailImage:
    """An image with its width in pixels; 0 if unknown."""

    url: str
    width: int


@dataclass(frozen=True)
class Option:
    """An answer to the first question."""

    label: str
    link: str


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
    divider: str
    radius: int
    button_radius: int


@dataclass(frozen=True, kw_only=True)
class MailContent:
    """The content of a mail in one language.

    Attributes:
        question: the first question; ``""`` if the first question is not a rating question.
        options: the options of the first question; empty if the first question is not a rating
            question.
        footer: the footer text of the survey.
        greeting: the greeting with the customer's name; ``""`` if the name is unknown.
    """

    words: Words
    language: Language
    direction: str
    place: str
    subject: str
    title: str
    greeting: str
    intro: str
    question: str
    options: tuple[Option, ...]
    footer: str
    reason: str
    links: MailLinks
    logo: MailImage | None
    cover: MailImage | None
    style: MailStyle


def mail_content(invitation: SurveyInvitation, links: MailLinks) -> MailContent:
    """Return the content of the invitation in the customer's language."""
    survey = invitation.survey
    language = invitation_language(survey, invitation.customer.language)
    words = words_in(language)
    texts = survey.translations.get(language, SurveyTranslation())
    header = translate(survey.header, texts.header)
    footer = translate(survey.footer, texts.footer)
    place = shortened(invitation.place_name, _MAX_LINE)
    subject = words.subject.format(place=place)
    question, options = _first_question(survey, texts, words, links)
    return MailContent(
        words=words,
        language=language,
        direction=direction(language),
        place=place,
        subject=shortened(header.title, _MAX_LINE) or subject,
        title=shortened(header.title, _MAX_LINE) or subject,
        greeting=_greeting(invitation.customer.first_name, words),
        intro=shortened(header.subtitle, _MAX_PARAGRAPH) or words.intro,
        question=question,
        options=options,
        footer=shortened(footer.text, _MAX_PARAGRAPH) if footer.display else "",
        reason=words.reason.format(place=place),
        links=links,
        logo=_image(survey.email_logo or survey.logo, _MAX_LOGO_WIDTH, _MAX_LOGO_HEIGHT),
        cover=_image(survey.email_cover or survey.cover, _MAX_COVER_WIDTH),
        style=_style(survey),
    )


def invitation_language(survey: SavedSurvey, customer: Language | None) -> Language:
    """Return the customer's language if the survey has it, otherwise the survey's language."""
    if not survey.auto_translate or customer is None:
        return survey.language
    return choose_language(survey.language, survey.translations, requested_range=str(customer))


def direction(language: Language) -> str:
    """Return the direction of a language's script: ``ltr`` or ``rtl``."""
    return "rtl" if is_right_to_left(language) else "ltr"


def shortened(text: str, length: int, ellipsis: str = "…") -> str:
    """Return the text as one line without control characters, with at most ``length`` characters.

    Characters that change the direction of the text count as control characters.

    Args:
        ellipsis: the end of a text that was shortened.
    """
    line = _CONTROLS.sub(" ", text).strip()
    return line if len(line) <= length else line[: length - len(ellipsis)].rstrip() + ellipsis


def _greeting(first_name: str | None, words: Words) -> str:
    name = shortened(first_name or "", _MAX_LINE)
    return words.greeting.format(name=name) if _is_plain_name(name) else ""


def _is_plain_name(name: str) -> bool:
    """Return whether a name consists only of characters that cannot be part of a link.

    Anyone can submit a customer's name through a form. Mail clients and browsers map many
    characters to dots, slashes and digits (UTS 46), so only the characters of names are allowed.
    """
    normalized = unicodedata.normalize("NFKC", name)
    return 0 < len(normalized) <= _MAX_NAME and all(
        unicodedata.category(character)[0] == "L"
        or (
            position > 0
            and (unicodedata.category(character)[0] == "M" or character in _NAME_PUNCTUATION)
        )
        for position, character in enumerate(normalized)
    )


def _first_question(
    survey: SavedSurvey, texts: SurveyTranslation, words: Words, links: MailLinks
) -> tuple[str, tuple[Option, ...]]:
    """Return the first question and its options, or ``""`` and no options.

    If the survey has a pre-redirect question, this is the field that receives its answer. The mail
    shows no options if the question depends on another question.
    """
    fields = fields_in_order(survey)
    if survey.pre_redirect and survey.pre_redirect_config:
        asked = FieldType[survey.pre_redirect_config.type.name]
        fields = [field for field in fields if field.type is asked]
    field = next(iter(fields), None)
    if field is None or field.dependencies:
        return "", ()
    if field.type.rules.display.control not in _LABELS:
        return "", ()
    label = texts.fields.get(field.key, FieldTranslation()).label or field.label
    return shortened(label, _MAX_LINE), _options(field, words, links)


def _options(field: SavedField, words: Words, links: MailLinks) -> tuple[Option, ...]:
    return tuple(
        Option(label, links.prefilled(field.key, answer))
        for answer, label in _LABELS[field.type.rules.display.control](words).items()
    )


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
    style = survey.general_style
    accent = _colour(style.accent_color, "#1f5fbf")
    return MailStyle(
        text=_colour(style.text_color, "#333f4a"),
        title=_colour(style.title_color, "#1f2933"),
        muted=_colour(style.subtitle_color, "#52606d"),
        background=_colour(style.background_color, "#ffffff"),
        accent=accent,
        button=_colour(style.button_background_color, accent),
        button_text=_colour(style.button_text_color, "#ffffff"),
        divider=_colour(style.divider_color, "#e4e7eb"),
        radius=_CORNERS_PX[style.card_border_radius],
        button_radius=_CORNERS_PX[style.button_radius],
    )


def _colour(value: str, default: str) -> str:
    """Return the colour as ``#rrggbb``, because some mail clients do not support transparency."""
    if not _COLOUR.fullmatch(value):
        return default
    digits = value[1:]
    if len(digits) <= 4:
        digits = "".join(digit * 2 for digit in digits)
    return f"#{digits[:6].lower()}"
