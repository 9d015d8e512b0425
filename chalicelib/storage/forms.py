"""The tables of contact forms and of surveys.

A form has two rows with the same partition key, so one query loads both. The document row is large
and changes only when an operator loads a definition. The summary row is small and contains the
number of submissions; its revision increases with each change of this number. Only summary rows are
in the index.

Each version of the form's wording has a row with a partition key of its own.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.paging import PageRequest
from chalicelib.storage import counters, lists
from chalicelib.storage.counters import Listed
from chalicelib.storage.dynamodb.attributes import (
    CompressedJsonAttribute,
    IntegerAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import Key, account_key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.lists import ListedRow

DOCUMENT: Final = "document"
SUMMARY: Final = "summary"
VERSION: Final = "version"


class FormRow(ListedRow):
    """The document row, the summary row or a version row of a contact form or a survey."""

    form_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    account_id = UnicodeAttribute()
    submission_count = optional(IntegerAttribute)
    revision = optional(IntegerAttribute)
    document = CompressedJsonAttribute(null=True)
    by_block = index(
        "list_block", "position", including("submission_count"), sort_type=IntegerAttribute
    )


@dataclass(frozen=True)
class StoredForm:
    """A form loaded from the table.

    Attributes:
        document: the form as UTF-8 JSON.
        submission_count: the number of processed submissions.
    """

    form_id: str
    account_id: str
    document: bytes
    submission_count: int


class FormTable:
    """The repository of contact forms or of surveys."""

    def __init__(self, row: type[FormRow], listed: Listed) -> None:
        self.row = row
        self.listed = listed

    def find(self, form_id: str) -> StoredForm | None:
        """Load the form with this id, from any account.

        Return None if it does not exist. One consistent request.
        """
        rows = {row.part: row for row in self.row.load_partition(form_id)}
        return _stored(rows[DOCUMENT], rows[SUMMARY]) if rows else None

    def page(self, account_id: str, request: PageRequest) -> tuple[list[StoredForm], int]:
        """Load one page of forms in creation order, and the total number of forms.

        Three requests, independent of the page number; one more if the page spans two blocks.
        """
        total = counters.load_total(account_id, self.listed)
        counts = {
            row.form_id: row.submission_count or 0
            for row in lists.load_page(self.row, account_id, request, total)
        }
        documents = read_together(*(Key(self.row, form_id, DOCUMENT) for form_id in counts))
        return [
            StoredForm(row.form_id, account_id, row.document, counts[row.form_id])
            for row in documents
            if row
        ], total

    def count_submissions(self, rows: Rows, form_id: str, by: int) -> None:
        """Add ``by`` to the submission count of a form in this unit of work.

        The transaction fails if the form does not exist.
        """
        key = Key(self.row, form_id, SUMMARY)
        rows.require(key)
        rows.add(key, self.row.submission_count, by)
        rows.add(key, self.row.revision, 1)


class ContactFormRow(FormRow):
    """The document row, the summary row or a version row of a contact form."""

    class Meta:
        name = "contact-forms"


class SurveyRow(FormRow):
    """The document row, the summary row or a version row of a survey."""

    class Meta:
        name = "surveys"


contact_forms: Final = FormTable(ContactFormRow, Listed.CONTACT_FORMS)
surveys: Final = FormTable(SurveyRow, Listed.SURVEYS)

TABLES: Final = {FormKind.CONTACT_FORM: contact_forms, FormKind.SURVEY: surveys}


def load_with_versions(
    forms: Collection[tuple[FormKind, str]], versions: Collection[tuple[FormKind, str, str]]
) -> tuple[dict[tuple[FormKind, str], StoredForm], dict[tuple[FormKind, str, str], bytes]]:
    """Load forms by kind and id, and versions of forms by kind, form id and version.

    A version is the wording as JSON. Omit missing forms and versions. One consistent request per
    100 rows: two for each form, and one for each version.
    """
    parts = (DOCUMENT, SUMMARY)
    rows = iter(
        read_together(
            *(Key(TABLES[kind].row, form_id, part) for kind, form_id in forms for part in parts),
            *(
                Key(TABLES[kind].row, account_key(form_id, version), VERSION)
                for kind, form_id, version in versions
            ),
        )
    )
    pairs = ((form, next(rows), next(rows)) for form in forms)
    return (
        {form: _stored(document, count) for form, document, count in pairs if document and count},
        {version: row.document for version in versions if (row := next(rows))},
    )


def _stored(document: FormRow, summary: FormRow) -> StoredForm:
    count = summary.submission_count or 0
    return StoredForm(document.form_id, document.account_id, document.document, count)
