"""The table of contact forms."""

from typing import Final

from chalicelib.storage.counters import Listed
from chalicelib.storage.forms import FormRow, FormsByBlock, FormTable


class ContactFormRow(FormRow):
    """The document row or the summary row of a contact form."""

    class Meta:
        name = "contact-forms"

    by_block = FormsByBlock()


contact_forms: Final = FormTable(ContactFormRow, Listed.CONTACT_FORMS)
