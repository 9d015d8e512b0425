"""A contact form as an operator writes it, checked and turned into what is saved."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.definitions.build import build_saved_form
from chalicelib.domain.forms.definitions.form import FormDefinition, parse_definition
from chalicelib.domain.forms.definitions.references import References
from chalicelib.domain.forms.definitions.rules import form_errors
from chalicelib.domain.input_errors import InputError, unknown_reference
from chalicelib.domain.rule import rule
from chalicelib.domain.schema import Identifier


class ContactFormDefinition(FormDefinition):
    """A contact form as an operator writes it; its brand must be the account's."""

    brand_id: Identifier


def read_contact_form(document: Any, directory: Directory) -> ContactFormDefinition:
    """The document as its model.

    Raises:
        InvalidInput: with every key and value that does not fit, and every rule that is broken.
    """

    def rule_errors(form: ContactFormDefinition) -> Iterator[InputError]:
        yield from _brand_errors(form, directory)
        yield from form_errors(form, References.of(form))

    return parse_definition(ContactFormDefinition, document, rule_errors)


def save_contact_form(
    document: ContactFormDefinition, now: datetime, earlier: SavedContactForm | None = None
) -> SavedContactForm:
    """The form to save, in place of the earlier one if there is one.

    Raises:
        InputTooLarge: the saved form would be too large.
    """
    return build_saved_form(SavedContactForm, document, References.of(document), now, earlier)


@rule
def _brand_errors(document: ContactFormDefinition, directory: Directory) -> Iterator[InputError]:
    if directory.brand(document.brand_id) is None:
        yield unknown_reference("brand", "brandId")
