"""Contact forms: the saved contact form and its partner view."""

from typing import Self

from pydantic import Field

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.form import PartnerForm, SavedForm
from chalicelib.domain.forms.part import Part, text_field
from chalicelib.domain.forms.presentation import GeneralStyle
from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import Resource, UuidText


class _BrandedForm(Part):
    brand_id: UuidText = Field(description="Identifier of the targeted brand.")
    general_style: GeneralStyle = Field(
        default_factory=GeneralStyle, description="Style of the form."
    )


class PartnerContactForm(_BrandedForm, PartnerForm):
    """A contact form in the partner view."""

    brand_name: str = text_field("Current name of the brand.", "Maison Lumen")

    @classmethod
    def read(cls, saved: str | bytes, directory: Directory, submission_count: int) -> Self:
        """Build the view from a saved contact form and data that is stored separately.

        Args:
            saved: the JSON of the saved contact form.
            directory: the account's directory, which contains the current name of the form's brand.
        """
        form = cls.model_validate_json(saved)
        return form.model_copy(
            update={
                "brand_name": directory.name_of(form.brand_id),
                "submission_count": submission_count,
            }
        )


class SavedContactForm(_BrandedForm, SavedForm):
    """A contact form as saved."""


class ContactFormPage(Resource):
    """One page of an account's contact forms."""

    items: tuple[PartnerContactForm, ...]
    meta: PageMeta
