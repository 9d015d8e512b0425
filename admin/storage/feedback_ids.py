"""List the ids of feedback."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from chalicelib.domain.feedback.daily import DailyGroup
from chalicelib.storage.dynamodb.attributes import (
    EARLIEST,
    LATEST,
)
from chalicelib.storage.feedback import FeedbackRow


def list_ids(
    account_id: str, since: datetime | None, until: datetime | None, *, newest_first: bool
) -> Iterator[str]:
    """Yield the ids of the account's feedback records by creation time.

    About one request per 5,000 ids. The index is eventually consistent.

    Args:
        since: the earliest creation time.
        until: the end of the period; records created at this time are omitted.
    """
    first = since or EARLIEST
    last = until - timedelta(milliseconds=1) if until else LATEST
    rows = FeedbackRow.by_account.query(
        account_id,
        FeedbackRow.created_at.between(first, last),
        scan_index_forward=not newest_first,
    )
    return (row.feedback_id for row in rows)


def find_groups(feedback_ids: Collection[str]) -> list[tuple[str, DailyGroup]]:
    """Return the ids of up to 100 records with the groups in which the statistics count them.

    Test responses are omitted. One request, which returns a small part of each record.
    """
    attributes = ["feedback_id", "counted_as", "is_test"]
    found = FeedbackRow.batch_get(feedback_ids, attributes_to_get=attributes)
    groups = {
        row.feedback_id: DailyGroup.parse(row.counted_as)
        for row in found
        if row.counted_as and not row.is_test
    }
    return [(each, groups[each]) for each in feedback_ids if each in groups]


def scan_contacts() -> Iterator[tuple[str, str, datetime]]:
    """Yield the id, the contact hash and the creation time of each record with a contact hash.

    Reads the whole table, with one consistent request per MB.
    """
    rows = FeedbackRow.scan(
        FeedbackRow.contact_hash.exists(),
        attributes_to_get=["feedback_id", "contact_hash", "created_at"],
        consistent_read=True,
    )
    for row in rows:
        if row.contact_hash:
            yield row.feedback_id, row.contact_hash, row.created_at
