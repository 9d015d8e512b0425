"""Add an account's feedback to the feed of changes that partners read."""

from collections.abc import Callable
from functools import partial
from typing import Final

from admin.services.accounts.manage import require_account
from admin.storage import feed, feedback_ids
from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.storage import feedback, feedback_changes
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import transaction

_AT_ONCE: Final = 99


def republish_feedback(
    account_id: str, on_published: Callable[[int], None] = lambda _: None
) -> tuple[int, int]:
    """Add all feedback of the account to its feed, and repair the feed.

    Return the number of feedback records and of closed gaps. Feedback that partners have read
    appears to them again. You can repeat this function, also while the service changes the feed.
    Two AWS requests per 99 feedback records, one per 5,000 records, and those of `feed.repair`.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    gaps = feed.repair(account_id)
    ids = feedback_ids.list_ids(account_id, None, None, newest_first=False)
    published = 0
    for group in in_groups(ids, _AT_ONCE):
        retry_on_contention(partial(_publish, account_id, group))
        published += len(group)
        on_published(len(group))
    return published, gaps


def _publish(account_id: str, feedback_ids: list[str]) -> None:
    stored, head = feedback.find_many_with_head(account_id, feedback_ids)
    published = [record.feedback.id for record in stored.values() if not record.is_open]
    highest = max((record.entry_number for record in stored.values()), default=0)
    if highest > head.last:
        # A restored row can be newer than the head. An entry of the next change with a number that
        # the row has already would not make readers wait for the row.
        feed.raise_head(account_id, highest)
        head = feedback_changes.load_head(account_id)
    with transaction() as write:
        # The entry has no mark, because the transaction does not store its number in the rows.
        feedback_changes.add(write, account_id, head, published, clock.now(), numbers_rows=False)
