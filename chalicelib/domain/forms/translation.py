"""Translations of a form's texts.

The form's original texts are in the language ``language``. ``translations`` maps other languages to
translated texts:

    "translations": {"fr": {"header": {"title": "Votre visite ?"},
                            "fields": {"what": {"label": "Quoi ?", "values": ["Service", "Prix"]}},
                            "groups": {"visit": {"name": "Votre visite"}}}}

``fields`` and ``groups`` map the key of each field or group to its translation. Translated
``values`` and ``thanks`` have the same number and order as the original ones. If a translation is
absent or empty, respondents see the original text.
"""

from typing import Any

from pydantic import Field

from chalicelib.domain.forms.part import Part


def _is_empty(value: Any) -> bool:
    return value == "" or value == [] or value == {} or value is None


def _text() -> Any:
    return Field(default="", exclude_if=_is_empty)


class TitlesTranslation(Part):
    """The title and subtitle of the header or of the thank-you view."""

    title: str = _text()
    subtitle: str = _text()


class BodyTranslation(Part):
    """The texts of the form's body."""

    button_text: str = _text()


class FooterTranslation(Part):
    """The texts of the footer."""

    title: str = _text()
    text: str = _text()


class FieldTranslation(Part):
    """The texts of one field."""

    label: str = _text()
    placeholder: str = _text()
    values: list[str] = Field(default=[], exclude_if=_is_empty)


class GroupTranslation(Part):
    """The texts of one field group."""

    name: str = _text()


class FormTranslation(Part):
    """All texts of a form in one language."""

    header: TitlesTranslation = Field(default_factory=TitlesTranslation)
    body: BodyTranslation = Field(default_factory=BodyTranslation)
    footer: FooterTranslation = Field(default_factory=FooterTranslation)
    submission: TitlesTranslation = Field(default_factory=TitlesTranslation)
    thanks: list[TitlesTranslation] = Field(default=[], exclude_if=_is_empty)
    fields: dict[str, FieldTranslation] = Field(default={}, exclude_if=_is_empty)
    groups: dict[str, GroupTranslation] = Field(default={}, exclude_if=_is_empty)


class TextTranslation(Part):
    """The translation of a `ColoredText`. The colour is the same in every language."""

    text: str = _text()


class ButtonTranslation(TextTranslation):
    """The texts of a button."""

    topic: TextTranslation = Field(default_factory=TextTranslation)


class NpsTranslation(Part):
    """The texts of a question with a scale from 0 to 10."""

    start_text: str = _text()
    end_text: str = _text()
    topic: str = _text()


class CsatStarTranslation(Part):
    """The texts of a question with a five-star scale."""

    topic: str = _text()


class CsatSmileyTranslation(Part):
    """The texts of a question with a five-smiley scale."""

    one: str = _text()
    two: str = _text()
    three: str = _text()
    four: str = _text()
    five: str = _text()
    topic: str = _text()


class BinaryTranslation(Part):
    """The texts of a question with two options."""

    satisfied: str = _text()
    unsatisfied: str = _text()
    topic: str = _text()


class PreRedirectTranslation(Part):
    """The texts of the pre-redirect question."""

    text: TextTranslation = Field(default_factory=TextTranslation)
    button: ButtonTranslation = Field(default_factory=ButtonTranslation)
    nps: NpsTranslation = Field(default_factory=NpsTranslation)
    csat_star: CsatStarTranslation = Field(default_factory=CsatStarTranslation)
    csat_smiley: CsatSmileyTranslation = Field(default_factory=CsatSmileyTranslation)
    binary: BinaryTranslation = Field(default_factory=BinaryTranslation)


class SurveyTranslation(FormTranslation):
    """All texts of a survey in one language."""

    pre_redirect_config: PreRedirectTranslation | None = Field(default=None, exclude_if=_is_empty)
