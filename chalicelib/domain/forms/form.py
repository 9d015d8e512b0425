"""The properties that contact forms and surveys share.

A form is saved as one JSON document with the properties of every view. The partner view is parsed
directly from this document and ignores the properties that only the public view needs.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import Field, field_serializer

from chalicelib.domain.forms.fields import (
    FieldDependency,
    PartnerField,
    PartnerFieldGroup,
    SavedField,
    SavedFieldGroup,
)
from chalicelib.domain.forms.labels import LabelRule
from chalicelib.domain.forms.part import DatedPart, Part
from chalicelib.domain.forms.presentation import (
    Body,
    ExternalLink,
    Footer,
    Header,
    Image,
    Layout,
    PartnerImage,
    Submission,
    Thanks,
)
from chalicelib.domain.forms.translation import FormTranslation
from chalicelib.domain.language import Language
from chalicelib.domain.schema import Timestamp


class Form(DatedPart):
    """Form properties that the partner view and the saved form share."""

    name: str = Field(description="Internal name of the form.", examples=["After your visit"])
    description: str | None = Field(
        default=None, description="Internal description.", examples=["Shown on the website"]
    )
    language: Language = Field(
        description="Language of the form's original texts.", examples=["en"]
    )
    enabled: bool = Field(description="Whether the form accepts submissions.", examples=[True])
    auto_translate: bool = Field(
        description="Whether to show the form in the respondent's language if a translation exists."
    )
    header: Header = Field(default_factory=Header, description="Texts above the fields.")
    body: Body = Field(default_factory=Body, description="Texts of the form body.")
    footer: Footer = Field(default_factory=Footer, description="Content below the form.")
    external_link: ExternalLink = Field(
        default_factory=ExternalLink, description="Links to the form owner's websites."
    )
    submission: Submission = Field(
        default_factory=Submission, description="Content shown after submission."
    )
    field_dependencies: list[FieldDependency] = Field(
        default=[], description="Conditions that show or hide fields."
    )


class PartnerImages(Part):
    """The images of a form in the partner view."""

    logo: PartnerImage | None = Field(default=None, description="Logo above the form.")
    footer_logo: PartnerImage | None = Field(default=None, description="Logo in the footer.")
    cover: PartnerImage | None = Field(default=None, description="Cover image.")
    submission_image: PartnerImage | None = Field(
        default=None, description="Image shown after submission."
    )


class Images(Part):
    """The images of a form with all image properties."""

    logo: Image | None = Field(default=None, description="Logo above the form.")
    footer_logo: Image | None = Field(default=None, description="Logo in the footer.")
    cover: Image | None = Field(default=None, description="Cover image.")
    submission_image: Image | None = Field(
        default=None, description="Image shown after submission."
    )


class PartnerForm(PartnerImages, Form):
    """Properties that the partner views of contact forms and surveys share."""

    submission_count: int = Field(
        default=0, ge=0, description="Number of submissions.", examples=[128]
    )
    fields: list[PartnerField] = Field(default=[], description="The form's fields.")
    field_groups: list[PartnerFieldGroup] = Field(
        default=[], description="The groups of the form's fields."
    )


class Opening(NamedTuple):
    """Whether a form accepts submissions, and until when this is so; None if it does not change."""

    is_open: bool
    until: datetime | None


class SavedForm(Images, Form):
    """Properties that saved contact forms and surveys share.

    Attributes:
        opens_at, closes_at: the form accepts submissions from the one until before the other, if it
            is enabled. No view contains these properties and `labels`.
        labels: the allowed values of the labels in links to the form, by name.
        key: the name by which definitions refer to the form; ``""`` if unset. No view contains it.
        archived: whether the operators' lists hide the form, which is disabled.
        layout, thanks: properties of pages, which no view contains.
    """

    opens_at: Timestamp | None = None
    closes_at: Timestamp | None = None
    labels: Mapping[str, LabelRule] = {}
    key: str = ""
    archived: bool = False
    layout: Layout = Layout.PAGE
    thanks: list[Thanks] = []

    fields: list[SavedField]
    field_groups: list[SavedFieldGroup]
    translations: Mapping[Language, FormTranslation]

    def opening_at(self, now: datetime) -> Opening:
        """Return whether the form accepts submissions at this time, and until when."""
        if not self.enabled:
            return Opening(False, None)
        if self.opens_at and now < self.opens_at:
            return Opening(False, self.opens_at)
        if self.closes_at and now >= self.closes_at:
            return Opening(False, None)
        return Opening(True, self.closes_at)

    @field_serializer("translations")
    def _without_empty_texts(
        self, translations: Mapping[Language, FormTranslation]
    ) -> dict[Language, Any]:
        return {
            language: texts.model_dump(mode="json", exclude_defaults=True)
            for language, texts in translations.items()
        }
