"""Find an account's feedback records by creation time and by their properties."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.paging import in_groups
from chalicelib.storage import feedback

MAX_CONCURRENCY: Final = 8
_READ_AT_ONCE: Final = 100


def find_feedback(
    account_id: str,
    wanted: FeedbackFilter,
    *,
    newest_first: bool = False,
    at_most: int | None = None,
    on_read: Callable[[int], None] = lambda _: None,
) -> Iterator[StoredFeedback]:
    """Yield the account's feedback records that the filter selects, by creation time.

    The function needs the same memory for any number of records. AWS requests: one per 100
    records of the period, plus about one per 5,000 records.

    Args:
        at_most: the maximum number of records to yield.
        on_read: called after each group of records that was read, with the number of its records.
    """
    ids = feedback.list_ids(account_id, wanted.since, wanted.until, newest_first=newest_first)
    if at_most is not None and wanted.selects_all:
        ids = islice(ids, at_most)
    return islice(_read(ids, wanted, on_read), at_most)


def _read(
    ids: Iterator[str], wanted: FeedbackFilter, on_read: Callable[[int], None]
) -> Iterator[StoredFeedback]:
    # The first group often contains enough records, so no second group is read concurrently.
    groups_at_once = 1
    while read := list(islice(ids, groups_at_once * _READ_AT_ONCE)):
        groups = list(in_groups(read, _READ_AT_ONCE))
        for group, records in zip(
            groups, map_concurrently(feedback.find_many, groups, MAX_CONCURRENCY), strict=True
        ):
            for feedback_id in group:
                record = records.get(feedback_id)
                if record and wanted.matches(record.feedback):
                    yield record
        on_read(len(read))
        groups_at_once = MAX_CONCURRENCY


def read_feedback(feedback_id: str) -> StoredFeedback:
    """Return a feedback record of any account. One AWS request.

    Raises:
        NotFound: the feedback record does not exist.
    """
    record = feedback.find(feedback_id)
    if record is None:
        raise NotFound("feedback")
    return record
