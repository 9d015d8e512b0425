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

from pydantic import Field

from chalicelib.domain.forms.part import Part
from chalicelib.domain.forms.presentation import Body


class TitlesTranslation(Part):
    """The title and subtitle of the header or of the thank-you view."""

    title: str = ""
    subtitle: str = ""


class FooterTranslation(Part):
    """The texts of the footer."""

    title: str = ""
    text: str = ""


class FieldTranslation(Part):
    """The texts of one field."""

    label: str = ""
    placeholder: str = ""
    values: list[str] = []


class GroupTranslation(Part):
    """The texts of one field group."""

    name: str = ""


class FormTranslation(Part):
    """All texts of a form in one language."""

    header: TitlesTranslation = Field(default_factory=TitlesTranslation)
    body: Body = Field(default_factory=Body)
    footer: FooterTranslation = Field(default_factory=FooterTranslation)
    submission: TitlesTranslation = Field(default_factory=TitlesTranslation)
    thanks: list[TitlesTranslation] = []
    fields: dict[str, FieldTranslation] = {}
    groups: dict[str, GroupTranslation] = {}
