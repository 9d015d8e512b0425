"""Parse the definition of a contact form and build the contact form to save."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from admin.domain.definitions import parse_and_validate
from admin.domain.forms.build import build_form, with_kept_values
from admin.domain.forms.form import FormDefinition
from admin.domain.forms.rules import form_errors
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.contact_form import PartnerContactForm, SavedContactForm
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.schema import Identifier


class ContactFormDefinition(FormDefinition):
    """The definition of a contact form. The form's brand must belong to the account."""

    brand_id: Identifier


def define_contact_form(
    definition: Any,
    directory: Directory,
    now: datetime,
    earlier: SavedContactForm | None = None,
) -> SavedContactForm:
    """Parse the definition of a contact form, and build the contact form that replaces ``earlier``.

    Args:
        directory: the account's brands and stores.

    Raises:
        InvalidInput: the definition does not match the model or violates a rule.
        RecordTooLarge: the form exceeds a size limit; see `build_form`.
    """

    def rule_errors(form: ContactFormDefinition) -> Iterator[InputError]:
        if directory.brand(form.brand_id) is None:
            yield unknown_reference("brand", "brandId")
        yield from form_errors(form)

    parsed = parse_and_validate(
        with_kept_values(definition, earlier), ContactFormDefinition, rule_errors
    )
    return build_form(SavedContactForm, PartnerContactForm, parsed, directory, now, earlier)
