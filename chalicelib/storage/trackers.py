"""The table of trackers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.forms.tracker import Save, Tracker
from chalicelib.storage.dynamodb.attributes import JsonAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import (
    Key,
    Table,
    fields_of,
    find_row,
    read_indexed,
    read_together,
)
from chalicelib.storage.dynamodb.unit_of_work import Rows


class TrackerRow(Table):
    """The table row of a tracker."""

    class Meta:
        name = "trackers"

    tracker_id = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    survey_id = UnicodeAttribute()
    purchase_id = UnicodeAttribute()
    customer_id = optional(UnicodeAttribute)
    store_id = UnicodeAttribute()
    send_mode = UnicodeAttribute()
    created_at = TimestampAttribute()
    used_at = optional(TimestampAttribute)
    feedback_id = optional(UnicodeAttribute)
    counted_as = optional(UnicodeAttribute)
    tapped_at = optional(TimestampAttribute)
    saves = optional(JsonAttribute[Sequence[tuple[str, int, int | None]]])
    labels = optional(JsonAttribute[Mapping[str, str]])
    by_customer = index("customer_id")


def put(rows: Rows, tracker: Tracker, *, is_new: bool) -> None:
    """Add a tracker in this unit of work, or replace a tracker whose message was not sent.

    The transaction fails if the tracker is used meanwhile, or its respondent taps.

    Args:
        is_new: whether the id is new. If not, the unit has fetched the row.
    """
    key = Key(TrackerRow, tracker.id)
    stored = None if is_new else rows.get(key, TrackerRow.used_at, TrackerRow.tapped_at)
    row = stored or rows.create(key)
    row.account_id, row.survey_id = tracker.account_id, tracker.survey_id
    row.purchase_id, row.customer_id = tracker.purchase_id, tracker.customer_id
    row.store_id, row.send_mode = tracker.store_id, tracker.send_mode
    row.created_at, row.counted_as = tracker.created_at, tracker.counted_as
    row.labels, row.saves = tracker.labels, None


def find(tracker_id: str) -> Tracker | None:
    """Load a tracker. Return None if it does not exist. One consistent request."""
    row = find_row(Key(TrackerRow, tracker_id))
    return build_tracker(row) if row else None


def find_many(tracker_ids: Collection[str]) -> dict[str, Tracker]:
    """Load trackers by id. Omit missing trackers. One consistent request per 100 trackers."""
    rows = read_together(*(Key(TrackerRow, tracker_id) for tracker_id in tracker_ids))
    return {row.tracker_id: build_tracker(row) for row in rows if row}


def consume(rows: Rows, tracker_id: str, feedback_id: str, at: datetime) -> None:
    """Mark a tracker as used in this unit of work, which has fetched it.

    Do nothing if the tracker is used or does not exist.
    """
    key = Key(TrackerRow, tracker_id)
    tracker = rows.peek(key, because="a used tracker stays as it is")
    if tracker and not tracker.used_at:
        rows.get(key, TrackerRow.used_at)
        rows.set(key, TrackerRow.used_at, at)
        rows.set(key, TrackerRow.feedback_id, feedback_id)
        rows.set(key, TrackerRow.tapped_at, None)
        rows.set(key, TrackerRow.saves, None)


def of_customer(account_id: str, customer_id: str) -> Iterator[Tracker]:
    """Yield the customer's trackers; see `rows_of_customer`."""
    return map(build_tracker, rows_of_customer(account_id, customer_id))


def rows_of_customer(account_id: str, customer_id: str) -> Iterator[TrackerRow]:
    """Yield the customer's trackers. One request per MB of index entries and per 100 trackers."""
    for row in read_indexed(TrackerRow.by_customer.query(customer_id)):
        if row.account_id == account_id:
            yield row


def delete(rows: Rows, tracker_ids: Collection[str]) -> dict[str, Tracker]:
    """Delete the trackers with these ids that exist, in this unit of work. Return them by id.

    The transaction fails if one of them is used or tapped meanwhile.
    """
    keys = [Key(TrackerRow, tracker_id) for tracker_id in tracker_ids]
    rows.prefetch(*keys)
    found = {
        key: row for key in keys if (row := rows.get(key, TrackerRow.used_at, TrackerRow.tapped_at))
    }
    for key in found:
        rows.remove(key)
    return {key.hash_key: build_tracker(row) for key, row in found.items()}


def build_tracker(row: TrackerRow) -> Tracker:
    """Build a tracker from its table row."""
    saves = tuple(Save(*save) for save in row.saves or ())
    return Tracker(**fields_of(row, Tracker) | {"id": row.tracker_id, "saves": saves})
