"""The public view of a contact form: ``GET /public/contact-form``."""

from pydantic import Field

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.presentation import GeneralStyle
from chalicelib.domain.forms.public.form import PublicForm, public_parts
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.language import Language


class PublicContactForm(PublicForm):
    """A contact form in the public view."""

    general_style: GeneralStyle = Field(description="Style of the form.")
    brand_name: list[str] = Field(
        description="Current names of the form's brands.",
        examples=[["Maison Lumen"]],
    )


def build_public_contact_form(
    form: SavedContactForm,
    directory: Directory,
    language: Language,
    context: SurveyContext,
) -> PublicContactForm:
    """Return the public view of the contact form with the texts in this language."""
    brand = directory.brand(form.brand_id)
    return PublicContactForm(
        **public_parts(form, language, directory.stores_of(form.brand_id), context.names(language)),
        general_style=form.general_style,
        brand_name=[brand.name] if brand else [],
    )
