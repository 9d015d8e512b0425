"""Anonymize old feedback of accounts with a retention period. The sweeper calls this."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.paging import in_groups
from chalicelib.domain.work import Swept
from chalicelib.log import logger
from chalicelib.storage import accounts, feedback, feedback_changes
from chalicelib.storage.accounts import DueRetention
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.time_limits import has_time_for_work

MAX_PER_PASS: Final = 100
"""Maximum number of feedback records of one account that a pass anonymizes."""

PER_TRANSACTION: Final = 15
"""Maximum number of records in a transaction. A record has up to 256 KB, a transaction 4 MB."""

_CHECK_INTERVAL: Final = timedelta(hours=1)


def anonymize_old_feedback() -> Swept:
    """Anonymize feedback that is older than the retention period of its account.

    Only the ratings remain. The feedback stays linked to the customer and stays in the customer's
    counts. Return the number of anonymized records, and the longest time for which an account has
    waited for the end of its passes. A pass handles up to `MAX_PER_PASS` records of each due
    account, oldest first. If the account has more such records, it is due again in the next pass,
    otherwise after an hour. A pass serves the longest overdue accounts first, so if the time of a
    pass ends early, the next pass begins with other accounts.

    AWS requests: two, and for each due account up to 17; one if no account is due. If an account
    fails, the result contains the exception, and the next pass serves the account after the others.
    """
    now = clock.now()
    anonymized = 0
    first_error: Exception | None = None
    overdue = accounts.list_due_retention(now)
    for due in overdue:
        if not has_time_for_work():
            break
        try:
            anonymized += _anonymize(due, now)
        except Exception as error:
            logger.exception("retention failed", account_id=due.account_id)
            first_error = first_error or error
            with suppress(Unavailable):
                accounts.save_retention(due, None, now, is_done=False)
    now_s = int(now.timestamp())
    oldest_s = max((now_s - due.waits_since for due in overdue), default=0)
    return Swept(anonymized, oldest_s, first_error)


def _anonymize(due: DueRetention, now: datetime) -> int:
    until = now - timedelta(days=due.retention_days)
    listed = feedback.list_created(due.account_id, due.anonymized_until, until, MAX_PER_PASS)
    ids = [feedback_id for feedback_id, _ in listed]
    anonymized = 0
    for group in in_groups(ids, PER_TRANSACTION):
        anonymized += commit(partial(_anonymize_group, due.account_id, group))
    if len(listed) < MAX_PER_PASS:
        accounts.save_retention(due, until, now + _CHECK_INTERVAL, is_done=True)
    else:
        accounts.save_retention(due, listed[-1][1], now, is_done=False)
    return anonymized


def _anonymize_group(account_id: str, feedback_ids: list[str], rows: Rows) -> int:
    keys = [Key(FeedbackRow, feedback_id) for feedback_id in feedback_ids]
    rows.prefetch(feedback_changes.head_key(account_id), *keys)
    found = filter(None, map(rows.known, keys))
    identified = [row for row in found if not row.document.is_anonymized]
    if not identified:
        return 0
    now, ids = clock.now(), [row.feedback_id for row in identified]
    number = feedback_changes.add(rows, account_id, ids, now)
    for row in identified:
        feedback.anonymize(rows, row, row.record.anonymized(), number, now)
    return len(identified)
