"""What the tables of contact forms and surveys share: a document, and a summary beside it.

A form is two rows under its id. The document is large and changes when an operator saves it; the
summary is small, counts submissions and is what the list's index holds. One query reads both.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection
from pynamodb.transactions import TransactWrite

from chalicelib.domain.errors import Conflict
from chalicelib.domain.paging import PageRequest
from chalicelib.storage import counters
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.dynamodb.compressed_json import CompressedJsonAttribute, decompress
from chalicelib.storage.dynamodb.table import Table, read_together
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction

_DOCUMENT: Final = "document"
_SUMMARY: Final = "summary"


class FormsByPosition(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """The summaries of an account's forms, in creation order."""

    class Meta:
        index_name = "by_position"
        projection = IncludeProjection(["submission_count"])

    account_id = UnicodeAttribute(hash_key=True)
    position = NumberAttribute(range_key=True)


class FormRow(Table):
    """One of the two rows of a contact form or a survey."""

    form_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    account_id = UnicodeAttribute()
    position = NumberAttribute(null=True)
    submission_count = NumberAttribute(null=True)
    document = CompressedJsonAttribute(null=True)


@dataclass(frozen=True)
class StoredForm:
    """A form as it is kept.

    Attributes:
        document: the saved form's JSON, UTF-8.
        submission_count: how many submissions were counted so far.
    """

    form_id: str
    account_id: str
    document: bytes
    submission_count: int


class FormTable:
    """The repository of one of the two tables of forms."""

    def __init__(self, row: type[FormRow], listed: Listed) -> None:
        self._row = row
        self._listed = listed

    def find(self, form_id: str, *, consistent: bool = False) -> StoredForm | None:
        """The form with this id, of whatever account, or None. One request."""
        rows = {row["part"]: row for row in self._row.plain_query(form_id, consistent=consistent)}
        if _DOCUMENT not in rows:
            return None
        document, summary = rows[_DOCUMENT], rows.get(_SUMMARY)
        # A read that is not consistent may meet a new form's document before its summary.
        return StoredForm(
            form_id,
            document["account_id"],
            decompress(document["document"]),
            summary.get("submission_count", 0) if summary else 0,
        )

    def page(self, account_id: str, request: PageRequest) -> tuple[list[StoredForm], int]:
        """One page in creation order, and the total. Three requests, whatever the page's number."""
        total = counters.total(account_id, self._listed)
        if request.first_position > total:
            return [], total
        index = cast(FormsByPosition, self._row.by_position)  # type: ignore[attr-defined]
        counts = {
            row.form_id: int(row.submission_count or 0)
            for row in index.query(
                account_id,
                self._row.position.between(
                    request.first_position, min(request.last_position, total)
                ),
            )
        }
        documents = {
            row.form_id: row.document
            for row in self._row.batch_get([(form_id, _DOCUMENT) for form_id in counts])
        }
        return [
            StoredForm(form_id, account_id, documents[form_id], count)
            for form_id, count in counts.items()
            if form_id in documents
        ], total

    def count_submissions(self, write: TransactWrite, form_id: str, by: int) -> None:
        """Adds to an existing form's number of submissions in this transaction."""
        write.update(
            self._row(form_id, _SUMMARY),
            actions=[self._row.submission_count.add(by)],
            condition=self._row.form_id.exists(),
        )

    def put(self, account_id: str, form_id: str, document: bytes) -> None:
        """Keeps a form: a new one at the end of the account's list, a known one in its place.

        Raises:
            Conflict: the id is another account's.
            Unavailable: contention on the account's list does not end.
        """

        def attempt() -> None:
            counter, summary = read_together(
                (CounterRow, account_id, self._listed.value), (self._row, form_id, _SUMMARY)
            )
            if summary and summary.account_id != account_id:
                raise Conflict("This id is already used by another account's form.")
            with transaction() as write:
                if not summary:
                    total = int(counter.total) if counter else 0
                    counters.increment_total(write, account_id, self._listed, read=total)
                    write.save(
                        self._row(
                            form_id,
                            _SUMMARY,
                            account_id=account_id,
                            position=total + 1,
                            submission_count=0,
                        ),
                        self._row.form_id.does_not_exist(),
                    )
                write.save(self._row(form_id, _DOCUMENT, account_id=account_id, document=document))

        retry_on_contention(attempt)
