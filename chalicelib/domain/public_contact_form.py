"""What end users get of a contact form (interface, section 2.8)."""

from pydantic import Field

from chalicelib.domain.contact_form import SavedContactForm
from chalicelib.domain.language import Language
from chalicelib.domain.place import Directory
from chalicelib.domain.presentation import GeneralStyle
from chalicelib.domain.public_form import PublicForm, public_parts


class PublicContactForm(PublicForm):
    """A contact form as end users get it."""

    general_style: GeneralStyle = Field(description="Style of the whole form.")
    brand_name: list[str] = Field(
        description="Present names of the brands that the form belongs to.",
        examples=[["Maison Lumen"]],
    )


def show_contact_form(
    form: SavedContactForm, directory: Directory, language: Language
) -> PublicContactForm:
    """The view of a contact form in one of its languages."""
    brand = directory.brand(form.brand_id)
    return PublicContactForm(
        **public_parts(form, language, directory.stores_of(form.brand_id)),
        general_style=form.general_style,
        brand_name=[brand.name] if brand else [],
    )
