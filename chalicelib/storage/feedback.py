"""The table of feedback records. Each row is also the work record for processing the feedback."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.customers.addresses import pair_hash
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.feedback.taps import SAVED_FOR
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.idempotency import Origin
from chalicelib.domain.work import WorkState
from chalicelib.storage import trackers
from chalicelib.storage.dynamodb import transactions
from chalicelib.storage.dynamodb.attributes import (
    EARLIEST,
    CompressedJsonAttribute,
    IntegerAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import (
    Key,
    read_indexed,
    read_together,
    read_with_response,
    time_of,
)
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow, pending_attributes
from chalicelib.storage.feedback_changes import Head, head_key, head_of
from chalicelib.storage.trackers import TrackerRow

PART: Final = "feedback"
"""The value of the attribute ``part`` of all records. It is constant: the table has no sort key."""


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
    document = CompressedJsonAttribute()
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

    def pointer(self, _now: datetime) -> FeedbackPointer:
        return FeedbackPointer(self.account_id, self.feedback_id)


WORK: Final[WorkRecords[FeedbackPointer]] = WorkRecords("feedback", FeedbackRow)
"""The work records of feedback."""


def create(feedback: Feedback, input_hash: str | None) -> bool:
    """Add a feedback record. Return False if the id already exists."""
    return transactions.create(FeedbackRow, _attributes(feedback, input_hash))


def add(
    write: Rows,
    feedback: Feedback,
    origin: Origin | None = None,
    earlier: StoredFeedback | None = None,
    **values: Any,
) -> None:
    """Add the feedback of a tracker in this transaction.

    The transaction fails if the feedback exists, or was saved again since ``earlier`` was loaded.

    Args:
        origin: the origin of a submission; None for tapped answers.
        earlier: the tapped answers that the feedback replaces.
        values: further attributes of the row.
    """
    attributes = _attributes(feedback, origin.input_hash if origin else None) | values
    attributes["key_hash"] = origin and origin.key_hash
    if earlier:
        attributes["answered_as"] = earlier.answered_as
        write.save(FeedbackRow(**attributes), FeedbackRow.has(saves=earlier.saves))
    else:
        write.put_new(FeedbackRow, attributes)


def save(write: Rows, tapped: Feedback, tracker: Tracker, earlier: StoredFeedback | None) -> None:
    """Save tapped answers in this transaction, as a record that is due when they end; see `add`."""
    due_at = int((tapped.created_at + SAVED_FOR).timestamp())
    planned = {"due_at": due_at, "ready_at": due_at, "answered_as": tracker.counted_as}
    add(write, tapped, None, earlier, **planned, saves=len(tracker.saves) + 1)


def discard(rows: Rows, tapped: StoredFeedback) -> None:
    """Delete tapped answers in this transaction. It fails if they were saved again or ended."""
    key = Key(FeedbackRow, tapped.feedback.id)
    rows.expect(key, FeedbackRow.saves, tapped.saves)
    rows.remove(key)


def end_taps(rows: Rows, tapped: StoredFeedback) -> None:
    """End the time in which tapped answers can be changed, in this transaction.

    The transaction fails if the record has changed since it was loaded.
    """
    rows.set(rely_on(rows, tapped), FeedbackRow.saves, None)


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
        row.feedback_id: _stored(row) for row in rows if row and (with_taps or row.saves is None)
    }


def find_many_with_head(
    account_id: str, feedback_ids: Collection[str]
) -> tuple[dict[str, StoredFeedback], Head]:
    """Load feedback records, and the head of the account's feed, in one consistent request.

    The result includes tapped answers that can still be changed.

    Args:
        feedback_ids: up to 99 ids.
    """
    head, keys = head_key(account_id), {each: Key(FeedbackRow, each) for each in feedback_ids}
    read = Rows()
    read.prefetch(head, *keys.values())
    found = {each: _stored(row) for each, key in keys.items() if (row := read.known(key))}
    return found, head_of(read.known(head))


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


def find_with_tracker(
    feedback_id: str, tracker_id: str
) -> tuple[StoredFeedback | None, Tracker | None, datetime]:
    """Load a feedback record and a tracker, each None if missing. One consistent request.

    Return also the time of DynamoDB's response, in full seconds.
    """
    key, key_of_tracker = Key(FeedbackRow, feedback_id), Key(TrackerRow, tracker_id)
    read = Rows()
    read.prefetch(key, key_of_tracker)
    row, tracker = read.known(key), read.known(key_of_tracker)
    return (
        _stored(row) if row else None,
        trackers.build_tracker(tracker) if tracker else None,
        read.read_at,
    )


def time_before_create(feedback_id: str) -> datetime:
    """Return the current time of DynamoDB in full seconds. One consistent request."""
    _, response = read_with_response(Key(FeedbackRow, feedback_id))
    return time_of(response)


def finish(
    rows: Rows,
    stored: StoredFeedback,
    customer_id: str | None,
    entry_number: int,
    now: datetime,
) -> None:
    """Mark a feedback record as processed in this transaction.

    The transaction fails if the record is not pending, or was anonymized since it was loaded.

    Args:
        stored: the record, with the groups in which the statistics count it.
        customer_id: the id of the respondent's customer, or None if there is no such customer.
        entry_number: the number of the entry in the feed.
    """
    key = Key(FeedbackRow, stored.feedback.id)
    rows.expect(key, FeedbackRow.state, WorkState.PENDING)
    if not stored.feedback.is_anonymized:
        rows.expect(key, FeedbackRow.anonymized_at, None)
    rows.require(key)
    rows.set(key, FeedbackRow.state, WorkState.DONE)
    rows.set(key, FeedbackRow.ended_at, now)
    rows.set(key, FeedbackRow.work_shard, None)
    rows.set(key, FeedbackRow.due_at, None)
    rows.set(key, FeedbackRow.started_at, None)
    rows.set(key, FeedbackRow.waits_since, None)
    rows.set(key, FeedbackRow.entry_number, entry_number)
    rows.set(key, FeedbackRow.counted_as, stored.counted_as)
    if stored.answered_as:
        rows.set(key, FeedbackRow.answered_as, stored.answered_as)
    if customer_id:
        rows.set(key, FeedbackRow.customer_id, customer_id)


def of_person(
    account_id: str, customer_id: str, contact_hash: str | None
) -> Iterator[StoredFeedback]:
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
            yield _stored(row)


def anonymize(
    rows: Rows,
    stored: StoredFeedback,
    anonymized: Feedback,
    entry_number: int,
    now: datetime,
    *,
    ends_taps: bool = False,
) -> None:
    """Replace a feedback record with its anonymized version, in this transaction.

    The transaction fails if the record has changed since it was loaded.

    Args:
        entry_number: the number of the entry in the feed.
        ends_taps: whether tapped answers cannot be changed any more.
    """
    key = rely_on(rows, stored)
    rows.expect(key, FeedbackRow.customer_id, stored.feedback.customer_id)
    rows.set(key, FeedbackRow.document, anonymized.model_dump_json().encode())
    rows.set(key, FeedbackRow.anonymized_at, now)
    rows.set(key, FeedbackRow.contact_hash, None)
    rows.set(key, FeedbackRow.input_hash, None)
    rows.set(key, FeedbackRow.entry_number, entry_number)
    if anonymized.customer_id is None:
        rows.set(key, FeedbackRow.customer_id, None)
    if ends_taps:
        rows.set(key, FeedbackRow.saves, None)


def rely_on(rows: Rows, stored: StoredFeedback) -> Key[FeedbackRow]:
    """Rely on a record that another request has loaded: it has not changed. Return its key."""
    key = Key(FeedbackRow, stored.feedback.id)
    rows.expect(key, FeedbackRow.state, stored.state)
    rows.expect(key, FeedbackRow.is_test, stored.is_test or None)
    rows.expect(key, FeedbackRow.counted_as, stored.counted_as)
    rows.expect(key, FeedbackRow.saves, stored.saves)
    return key


def _attributes(feedback: Feedback, input_hash: str | None) -> dict[str, Any]:
    pair = feedback.answered_pair
    copied = ("account_id", "form_id", "created_at", "customer_id")
    return {
        "feedback_id": feedback.id,
        **{name: getattr(feedback, name) for name in copied},
        "document": feedback.model_dump_json().encode(),
        "input_hash": input_hash,
        "contact_hash": pair and pair_hash(feedback.account_id, pair.digest),
        **pending_attributes(feedback.account_id, feedback.id, PART, feedback.created_at),
    }


def _stored(row: FeedbackRow) -> StoredFeedback:
    feedback = Feedback.model_validate_json(row.document)
    if row.customer_id != feedback.customer_id:
        feedback = feedback.model_copy(update={"customer_id": row.customer_id})
    changed_at = max(filter(None, (row.ended_at, row.anonymized_at, row.marked_at)), default=None)
    return StoredFeedback(
        feedback,
        row.input_hash,
        WorkState(row.state),
        bool(row.is_test),
        changed_at,
        row.counted_as,
        row.answered_as,
        row.entry_number or 0,
        row.started_at is not None,
        row.key_hash,
        row.saves,
    )
