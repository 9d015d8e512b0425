"""The tables of contact forms and of surveys.

A form has two rows with the same partition key, so one query loads both. The document row is large
and changes only when an operator loads a definition. The summary row is small and contains the
number of submissions. Only summary rows are in the index.

Each version of the form's wording has a row with a partition key of its own.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.storage import account_changes, counters, lists
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.dynamodb.attributes import CompressedJsonAttribute, IntegerAttribute
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import Table, account_key, read_together
from chalicelib.storage.dynamodb.transactions import transaction, try_write

DOCUMENT: Final = "document"
SUMMARY: Final = "summary"
_VERSION: Final = "version"


class FormRow(Table):
    """The document row, the summary row or a version row of a contact form or a survey."""

    form_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    account_id = UnicodeAttribute()
    position = IntegerAttribute(null=True)
    list_block = UnicodeAttribute(null=True)
    submission_count = IntegerAttribute(null=True)
    document = CompressedJsonAttribute(null=True)
    version = UnicodeAttribute(null=True)
    by_block = index(
        "list_block", "position", including("submission_count"), sort_type=IntegerAttribute
    )


@dataclass(frozen=True)
class StoredForm:
    """A form loaded from the table.

    Attributes:
        document: the form as UTF-8 JSON.
        submission_count: the number of processed submissions.
        version: identifies the stored document. None if `page` returned the form.
    """

    form_id: str
    account_id: str
    document: bytes
    submission_count: int
    version: str | None = None


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
        documents = read_together(*((self.row, form_id, DOCUMENT) for form_id in counts))
        return [
            StoredForm(row.form_id, account_id, row.document, counts[row.form_id])
            for row in documents
            if row
        ], total

    def load_counts(self, form_ids: Sequence[str]) -> dict[str, int]:
        """Return the submission counts of forms by id. One consistent request per 100 forms."""
        keys = [(self.row, form_id, SUMMARY) for form_id in form_ids]
        return {row.form_id: row.submission_count or 0 for row in read_together(*keys) if row}

    def correct_count(self, form_id: str, read: int, count: int) -> bool:
        """Replace the submission count of a form. Return False if the count has changed.

        Args:
            read: the count when it was loaded.
        """
        row, actions = self.row(form_id, SUMMARY), self.row.changes(submission_count=count)
        return try_write(lambda: row.update(actions, self.row.has(submission_count=read)))

    def count_submissions(self, write: TransactWrite, form_id: str, by: int) -> None:
        """Add ``by`` to the submission count of a form in this transaction.

        The transaction fails if the form does not exist.
        """
        write.update(
            self.row(form_id, SUMMARY),
            actions=[self.row.submission_count.add(by)],
            condition=self.row.form_id.exists(),
        )

    def save(
        self,
        account_id: str,
        form_id: str,
        document: bytes,
        versions: Mapping[str, bytes],
        read: StoredForm | None = None,
        changes: Iterable[AccountChange] = (),
    ) -> None:
        """Replace the form with this id, or add a form at the end of the account's list.

        Args:
            versions: the versions of the form to store with it, as JSON.
            read: the form, as `find` returned it; None for a new form.
            changes: the changes to add to the account's history, in the same transaction.

        Raises:
            Conflict: another account uses the id.
            Contention: the form has changed since it was read, or the account's counter is
                contended.
        """
        counter, summary = read_together(
            (CounterRow, account_id, self.listed.value), (self.row, form_id, SUMMARY)
        )
        if summary and summary.account_id != account_id:
            raise Conflict("This id is already used by another account's form.")
        row, is_new = partial(self.row, account_id=account_id), self.row.has(form_id=None)
        with transaction() as write:
            if not summary:
                total = counters.total_of(counter)
                counters.increment_total(write, account_id, self.listed, read=total)
                placed = lists.place(account_id, total + 1)
                write.save(row(form_id, SUMMARY, submission_count=0, **placed), is_new)
            write.save(
                row(form_id, DOCUMENT, document=document, version=new_id()),
                self._is_unchanged(read) if read else is_new,
            )
            for version, wording in versions.items():
                write.save(row(account_key(form_id, version), _VERSION, document=wording))
            account_changes.add(write, account_id, changes)

    def replace_document(self, read: StoredForm, document: bytes) -> bool:
        """Replace the document of a form. Return False if the form has changed. One request.

        Args:
            read: the form, as `find` returned it.
        """
        row = self.row(read.form_id, DOCUMENT)
        actions = self.row.changes(document=document, version=new_id())
        return try_write(lambda: row.update(actions, condition=self._is_unchanged(read)))

    def _is_unchanged(self, read: StoredForm) -> Condition:
        return self.row.has(form_id=read.form_id, version=read.version)


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
            *((TABLES[kind].row, form_id, part) for kind, form_id in forms for part in parts),
            *(
                (TABLES[kind].row, account_key(form_id, version), _VERSION)
                for kind, form_id, version in versions
            ),
        )
    )
    pairs = {form: (next(rows), next(rows)) for form in forms}
    return (
        {form: _stored(*pair) for form, pair in pairs.items() if all(pair)},
        {version: row.document for version in versions if (row := next(rows))},
    )


def _stored(document: FormRow, summary: FormRow) -> StoredForm:
    return StoredForm(
        document.form_id,
        document.account_id,
        document.document,
        summary.submission_count or 0,
        document.version,
    )
