"""The table of feedback records. Each row is also the work record for processing the feedback."""

import zlib
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Final

from pynamodb.attributes import Attribute, BooleanAttribute, UnicodeAttribute
from pynamodb.constants import BINARY

from chalicelib.domain.customers.addresses import pair_hash
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.idempotency import Origin
from chalicelib.domain.work import WorkState
from chalicelib.storage.dynamodb import conditional_writes
from chalicelib.storage.dynamodb.attributes import (
    EARLIEST,
    IntegerAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import (
    Key,
    read_indexed,
    read_together,
)
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow

PART: Final = "feedback"
"""The value of the attribute ``part`` of all records. It is constant: the table has no sort key."""


class _DocumentAttribute(Attribute[Feedback]):
    """A feedback record, stored as compressed JSON."""

    attr_type = BINARY

    def serialize(self, value: Feedback) -> bytes:
        return zlib.compress(value.model_dump_json().encode(), level=6)

    def deserialize(self, value: bytes) -> Feedback:
        return Feedback.model_validate_json(zlib.decompress(value))


class FeedbackRow(WorkRow[FeedbackPointer]):
    """The table row of a feedback record, with the state of its processing.

    ``contact_hash`` is the hash of the pair of e-mail address and phone number in the answers.
    ``entry_number`` is the number of the last entry in the feed whose transaction wrote the row.
    ``saves`` is the number of the last save of a tap that can still be changed.
    """

    class Meta:
        name = "feedback"

    feedback_id = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    form_id = UnicodeAttribute()
    document = _DocumentAttribute()
    input_hash = optional(UnicodeAttribute)
    key_hash = optional(UnicodeAttribute)
    created_at = TimestampAttribute()
    customer_id = optional(UnicodeAttribute)
    is_test = optional(BooleanAttribute)
    contact_hash = optional(UnicodeAttribute)
    anonymized_at = optional(TimestampAttribute)
    marked_at = optional(TimestampAttribute)
    counted_as = optional(UnicodeAttribute)
    answered_as = optional(UnicodeAttribute)
    entry_number = optional(IntegerAttribute)
    saves = optional(IntegerAttribute)
    by_account = index("account_id", "created_at")
    by_customer = index("customer_id", "created_at")
    by_contact = index("contact_hash", "created_at")
    part = PART

    @property
    def record(self) -> Feedback:
        """The feedback record with its current customer."""
        if self.customer_id == self.document.customer_id:
            return self.document
        return self.document.model_copy(update={"customer_id": self.customer_id})

    @property
    def is_open(self) -> bool:
        """Whether the row contains tapped answers that can still be changed."""
        return self.saves is not None

    @property
    def changed_at(self) -> datetime | None:
        """The time of the last change; None if the record was not changed."""
        times = self.ended_at, self.anonymized_at, self.marked_at
        return max(filter(None, times), default=None)

    def pointer(self, _now: datetime) -> FeedbackPointer:
        return FeedbackPointer(self.account_id, self.feedback_id)


WORK: Final[WorkRecords[FeedbackPointer]] = WorkRecords("feedback", FeedbackRow)
"""The work records of feedback."""


def create(feedback: Feedback, input_hash: str | None) -> bool:
    """Add a feedback record. Return False if the id already exists."""
    row = Key(FeedbackRow, feedback.id).row()
    _fill(row, feedback, input_hash)
    return conditional_writes.create(row)


def put(rows: Rows, feedback: Feedback, origin: Origin | None = None) -> FeedbackRow:
    """Add the feedback of a tracker in this unit of work, or replace its tapped answers.

    Return the row, which the unit has fetched. The transaction fails if the feedback is submitted,
    or if tapped answers are saved again.

    Args:
        origin: the origin of a submission; None for tapped answers.
    """
    key = Key(FeedbackRow, feedback.id)
    tapped = rows.known(key)
    is_open = tapped is not None and tapped.is_open
    row = (rows.get(key, FeedbackRow.saves) if is_open else None) or rows.create(key)
    _fill(row, feedback, origin.input_hash if origin else None)
    row.key_hash, row.saves = origin.key_hash if origin else None, None
    return row


def find(feedback_id: str) -> StoredFeedback | None:
    """Load a feedback record; see `find_many`. Return None if it does not exist."""
    return find_many([feedback_id]).get(feedback_id)


def find_many(
    feedback_ids: Collection[str], *, with_taps: bool = False
) -> dict[str, StoredFeedback]:
    """Load up to 100 feedback records by id. Omit missing records. One consistent request.

    Args:
        with_taps: whether to load also tapped answers that can still be changed.
    """
    rows = read_together(*(Key(FeedbackRow, feedback_id) for feedback_id in feedback_ids))
    return {
        row.feedback_id: build_stored(row) for row in rows if row and (with_taps or not row.is_open)
    }


def list_created(
    account_id: str, after: datetime | None, until: datetime, at_most: int
) -> list[tuple[str, datetime]]:
    """Return the ids and the creation times of the account's feedback, oldest first.

    About one request. The index is eventually consistent.

    Args:
        after: feedback created until this time is omitted.
        until: the latest creation time.
        at_most: the maximum number of records. Records that were created in the same millisecond as
            the last one are returned too.
    """
    first = after + timedelta(milliseconds=1) if after else EARLIEST
    if first > until:
        return []
    created: list[tuple[str, datetime]] = []
    rows = FeedbackRow.by_account.query(
        account_id, FeedbackRow.created_at.between(first, until), page_size=at_most
    )
    for row in rows:
        if len(created) >= at_most and row.created_at != created[-1][1]:
            break
        created.append((row.feedback_id, row.created_at))
    return created


def time_before_create(feedback_id: str) -> datetime:
    """Return the current time of DynamoDB in full seconds. One consistent request."""
    read = Rows()
    read.prefetch(Key(FeedbackRow, feedback_id))
    return read.read_at


def of_person(
    account_id: str, customer_id: str, contact_hash: str | None
) -> Iterator[StoredFeedback]:
    """Yield the feedback of a customer, and that with the pair; see `rows_of_person`."""
    return map(build_stored, rows_of_person(account_id, customer_id, contact_hash))


def rows_of_person(
    account_id: str, customer_id: str, contact_hash: str | None
) -> Iterator[FeedbackRow]:
    """Yield the feedback of a customer, and the feedback whose answers contain the pair.

    One request per index and MB of entries, and one per 100 records. The indexes are eventually
    consistent.

    Args:
        contact_hash: the hash of the customer's pair; None without a pair.
    """
    entries: list[FeedbackRow] = list(FeedbackRow.by_customer.query(customer_id))
    if contact_hash:
        entries += FeedbackRow.by_contact.query(contact_hash)
    unique = {entry.feedback_id: entry for entry in entries}
    for row in read_indexed(unique.values()):
        if row.account_id == account_id and (
            row.customer_id == customer_id or (contact_hash and row.contact_hash == contact_hash)
        ):
            yield row


def anonymize(
    rows: Rows, row: FeedbackRow, anonymized: Feedback, entry_number: int, now: datetime
) -> None:
    """Replace a feedback record with its anonymized version, in this unit of work.

    Args:
        entry_number: the number of the entry in the feed.
    """
    rely_on(rows, row)
    row.document, row.customer_id = anonymized, anonymized.customer_id
    row.contact_hash = row.input_hash = None
    row.anonymized_at, row.entry_number = now, entry_number


def rely_on(rows: Rows, row: FeedbackRow) -> None:
    """Rely on a record that this unit of work has fetched: it has not changed.

    Each change of a record that partners see has another entry in the feed.
    """
    rows.get(row.own_key(), FeedbackRow.entry_number, FeedbackRow.saves)


def _fill(row: FeedbackRow, feedback: Feedback, input_hash: str | None) -> None:
    pair = feedback.answered_pair
    row.account_id, row.form_id = feedback.account_id, feedback.form_id
    row.created_at, row.customer_id = feedback.created_at, feedback.customer_id
    row.document, row.input_hash = feedback, input_hash
    row.contact_hash = pair_hash(feedback.account_id, pair.digest) if pair else None
    row.make_pending(feedback.created_at)


def build_stored(row: FeedbackRow) -> StoredFeedback:
    """Build a stored feedback record from its table row."""
    return StoredFeedback(
        row.record,
        row.input_hash,
        WorkState(row.state),
        bool(row.is_test),
        row.changed_at,
        row.counted_as,
        row.answered_as,
        row.entry_number or 0,
        row.key_hash,
        row.is_open,
    )
