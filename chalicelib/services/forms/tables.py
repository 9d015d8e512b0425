"""The table for each kind of form: contact forms and surveys."""

from typing import Final

from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.storage.contact_forms import contact_forms
from chalicelib.storage.forms import FormTable
from chalicelib.storage.surveys import surveys

TABLES: Final[dict[FormKind, FormTable]] = {
    FormKind.CONTACT_FORM: contact_forms,
    FormKind.SURVEY: surveys,
}
