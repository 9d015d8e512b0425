"""Add an account's feedback to the feed of changes that partners read."""

from collections.abc import Callable
from functools import partial
from typing import Final

from admin.services.accounts.manage import require_account
from admin.storage import feed, feedback_ids
from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.storage import feedback_changes
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.feedback_changes import FeedbackChangeRow

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
        while highest := commit(partial(_publish, account_id, group)):
            feed.raise_head(account_id, highest)
        published += len(group)
        on_published(len(group))
    return published, gaps


def _publish(account_id: str, feedback_ids: list[str], rows: Rows) -> int:
    """Add an entry. Return 0, or else the number to which the head must be raised before.

    A restored row can be newer than the head. An entry of the next change with a number that the
    row has already would not make readers wait for the row.
    """
    head = feedback_changes.head_key(account_id)
    keys = [Key(FeedbackRow, feedback_id) for feedback_id in feedback_ids]
    rows.prefetch(head, *keys)
    because = "a record that changes later has a later entry"
    found = [row for key in keys if (row := rows.peek(key, because=because))]
    highest = max((row.entry_number or 0 for row in found), default=0)
    if highest > (rows.value(head, FeedbackChangeRow.last) or 0):
        return highest
    published = [row.feedback_id for row in found if not row.is_open]
    # The entry has no mark, because the transaction does not store its number in the rows.
    feedback_changes.add(rows, account_id, published, clock.now(), numbers_rows=False)
    return 0
