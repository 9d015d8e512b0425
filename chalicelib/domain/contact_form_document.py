"""A contact form as an operator writes it, checked and turned into what is saved."""

from datetime import datetime
from typing import Any

from chalicelib.domain.contact_form import SavedContactForm
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.form_document import FormDocument, read_document
from chalicelib.domain.form_references import References
from chalicelib.domain.form_rules import form_faults, unknown_reference
from chalicelib.domain.form_saving import build_saved_form
from chalicelib.domain.place import Directory
from chalicelib.domain.schema import Identifier


class ContactFormDocument(FormDocument):
    """A contact form as an operator writes it; its brand must be the account's."""

    brand_id: Identifier


def parse_contact_form(document: Any) -> ContactFormDocument:
    """The document as its model.

    Raises:
        InvalidInput: with every key and value that does not fit.
    """
    return read_document(ContactFormDocument, document)


def save_contact_form(
    document: ContactFormDocument,
    directory: Directory,
    now: datetime,
    earlier: SavedContactForm | None = None,
) -> SavedContactForm:
    """The form to save, in place of the earlier one if there is one.

    Raises:
        InvalidInput: with every rule that the document breaks.
        InputTooLarge: the saved form would be too large.
    """
    references = References.of(document)
    faults = list(form_faults(document, references))
    if directory.brand(document.brand_id) is None:
        faults.insert(0, unknown_reference("brand", "brandId"))
    if faults:
        raise InvalidInput(faults)
    return build_saved_form(SavedContactForm, document, references, now, earlier)
