"""The common parts of contact forms and surveys.

A form is saved as one JSON document that contains the data of every view. Its structure is that of
the partner view, which is parsed directly from the document; the public view needs more fields.
"""

from collections.abc import Mapping

from pydantic import Field

from chalicelib.domain.forms.fields import (
    FieldDependency,
    PartnerField,
    PartnerFieldGroup,
    SavedField,
    SavedFieldGroup,
)
from chalicelib.domain.forms.image import Image, PartnerImage
from chalicelib.domain.forms.part import DatedPart, Part
from chalicelib.domain.forms.presentation import Body, ExternalLink, Footer, Header, Submission
from chalicelib.domain.forms.translation import FormTranslation
from chalicelib.domain.language import Language


class Form(DatedPart):
    """Fields that are the same in every view and in the saved form."""

    name: str = Field(description="Internal name of the form.", examples=["After your visit"])
    description: str | None = Field(
        default=None, description="Internal description.", examples=["Shown on the website"]
    )
    language: Language = Field(description="Language of the form's own texts.", examples=["en"])
    enabled: bool = Field(description="Whether the form takes answers.")
    auto_translate: bool = Field(
        description="Whether the form is shown in the reader's language where it has its texts."
    )
    header: Header = Field(default_factory=Header, description="Texts above the fields.")
    body: Body = Field(default_factory=Body, description="Texts among the fields.")
    footer: Footer = Field(default_factory=Footer, description="What stands below the form.")
    external_link: ExternalLink = Field(
        default_factory=ExternalLink, description="Where the form's owner is found on the web."
    )
    submission: Submission = Field(
        default_factory=Submission, description="What is shown once the form was submitted."
    )
    field_dependencies: list[FieldDependency] = Field(
        default=[], description="Conditions that show or hide fields."
    )


class PartnerImages(Part):
    """The images of every form in the partner view."""

    logo: PartnerImage | None = Field(default=None, description="Logo above the form.")
    footer_logo: PartnerImage | None = Field(default=None, description="Logo in the footer.")
    cover: PartnerImage | None = Field(default=None, description="Cover image.")
    submission_image: PartnerImage | None = Field(
        default=None, description="Image shown once the form was submitted."
    )


class Images(Part):
    """The images of every form with all their fields."""

    logo: Image | None = Field(default=None, description="Logo above the form.")
    footer_logo: Image | None = Field(default=None, description="Logo in the footer.")
    cover: Image | None = Field(default=None, description="Cover image.")
    submission_image: Image | None = Field(
        default=None, description="Image shown once the form was submitted."
    )


class PartnerForm(PartnerImages, Form):
    """The common fields of the partner views."""

    submission_count: int = Field(
        default=0, ge=0, description="Number of submissions.", examples=[128]
    )
    fields: list[PartnerField] = Field(default=[], description="The form's fields.")
    field_groups: list[PartnerFieldGroup] = Field(
        default=[], description="The groups of the form's fields."
    )


class SavedForm(Images, Form):
    """The common fields of saved forms."""

    fields: list[SavedField]
    field_groups: list[SavedFieldGroup]
    translations: Mapping[Language, FormTranslation]
