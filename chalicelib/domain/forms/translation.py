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

from typing import Final

from pydantic import Field

from chalicelib.domain.forms.part import Part
from chalicelib.domain.forms.presentation import Body

_TITLES: Final = "Translations of `title` and `subtitle`."


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

    header: TitlesTranslation = Field(default_factory=TitlesTranslation, description=_TITLES)
    body: Body = Field(default_factory=Body, description="Translation of the button.")
    footer: FooterTranslation = Field(
        default_factory=FooterTranslation, description="Translations of the footer."
    )
    submission: TitlesTranslation = Field(default_factory=TitlesTranslation, description=_TITLES)
    thanks: list[TitlesTranslation] = Field(
        default=[], description="As many entries as `thanks`, in the same order."
    )
    fields: dict[str, FieldTranslation] = Field(
        default={}, description="Translations of the fields by key."
    )
    groups: dict[str, GroupTranslation] = Field(
        default={}, description="Translations of the groups by key."
    )
