"""A contact form as an operator writes it, checked and turned into what is saved."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.definitions.build import build_saved_form
from chalicelib.domain.forms.definitions.form import FormDocument, read_document
from chalicelib.domain.forms.definitions.references import References
from chalicelib.domain.forms.definitions.rule import rule
from chalicelib.domain.forms.definitions.rules import form_faults, unknown_reference
from chalicelib.domain.input_errors import Fault
from chalicelib.domain.schema import Identifier


class ContactFormDocument(FormDocument):
    """A contact form as an operator writes it; its brand must be the account's."""

    brand_id: Identifier


def read_contact_form(document: Any, directory: Directory) -> ContactFormDocument:
    """The document as its model.

    Raises:
        InvalidInput: with every key and value that does not fit, and every rule that is broken.
    """

    def faults_in(form: ContactFormDocument) -> Iterator[Fault]:
        yield from _brand_faults(form, directory)
        yield from form_faults(form, References.of(form))

    return read_document(ContactFormDocument, document, faults_in)


def save_contact_form(
    document: ContactFormDocument, now: datetime, earlier: SavedContactForm | None = None
) -> SavedContactForm:
    """The form to save, in place of the earlier one if there is one.

    Raises:
        InputTooLarge: the saved form would be too large.
    """
    return build_saved_form(SavedContactForm, document, References.of(document), now, earlier)


@rule
def _brand_faults(document: ContactFormDocument, directory: Directory) -> Iterator[Fault]:
    if directory.brand(document.brand_id) is None:
        yield unknown_reference("brand", "brandId")
