"""Add an account's feedback to the feed of changes that partners read."""

from collections.abc import Callable
from functools import partial
from typing import Final

from admin.services.accounts.manage import require_account
from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.storage import feedback, feedback_changes
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction

_AT_ONCE: Final = 100


def republish_feedback(
    account_id: str, on_published: Callable[[int], None] = lambda _: None
) -> tuple[int, int]:
    """Add all feedback of the account to its feed, and close gaps in the feed.

    Return the number of feedback records and of gaps. Feedback that partners have read appears to
    them again. You can repeat this function. Two AWS requests per 100 feedback records, one per
    5,000 records, and one per 700 entries of the feed.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    gaps = feedback_changes.repair(account_id)
    ids = feedback.list_ids(account_id, None, None, newest_first=False)
    published = 0
    for group in in_groups(ids, _AT_ONCE):
        retry_on_contention(partial(_publish, account_id, group))
        published += len(group)
        on_published(len(group))
    return published, gaps


def _publish(account_id: str, feedback_ids: list[str]) -> None:
    head = feedback_changes.load_head(account_id)
    with transaction() as write:
        feedback_changes.add(write, account_id, head, feedback_ids, clock.now())
