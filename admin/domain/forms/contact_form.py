"""Parse the definition of a contact form and build the contact form to save."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from admin.domain.forms.build import build_form
from admin.domain.forms.form import FormDefinition
from admin.domain.forms.rules import form_errors
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.definitions import parse_and_validate
from chalicelib.domain.forms.contact_form import PartnerContactForm, SavedContactForm
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.schema import Identifier


class ContactFormDefinition(FormDefinition):
    """The definition of a contact form. The form's brand must belong to the account."""

    brand_id: Identifier


def parse_contact_form_definition(definition: Any, directory: Directory) -> ContactFormDefinition:
    """Parse and validate the definition of a contact form.

    Args:
        directory: the account's brands and stores.

    Raises:
        InvalidInput: the definition does not match the model or violates a rule.
    """

    def rule_errors(form: ContactFormDefinition) -> Iterator[InputError]:
        if directory.brand(form.brand_id) is None:
            yield unknown_reference("brand", "brandId")
        yield from form_errors(form)

    return parse_and_validate(definition, ContactFormDefinition, rule_errors)


def build_contact_form(
    definition: ContactFormDefinition,
    directory: Directory,
    now: datetime,
    earlier: SavedContactForm | None = None,
) -> SavedContactForm:
    """Build the contact form to save. The contact form replaces ``earlier``.

    Raises:
        InputTooLarge: the form exceeds a size limit; see `build_form`.
    """
    return build_form(SavedContactForm, PartnerContactForm, definition, directory, now, earlier)
