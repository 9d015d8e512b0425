"""Replay all webhook deliveries in a state, for the command ``delivery replay``."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from admin.services.accounts.manage import list_accounts, require_account
from chalicelib.domain.paging import in_groups
from chalicelib.domain.webhooks.execution import ExecutionState, ReplayResult
from chalicelib.services.webhooks.deliveries import replay_executions
from chalicelib.storage import executions

_AT_ONCE: Final = 100


def replay_matching(
    state: ExecutionState,
    account_id: str | None,
    since: datetime | None,
    on_replayed: Callable[[int], None],
) -> int:
    """Replay all deliveries in a state, and return their number.

    Four AWS requests per account, and up to 12 per 100 deliveries. A delivery that is due, or that
    left the state in the meantime, is not replayed.

    Args:
        account_id: the account of the deliveries. Default: all accounts.
        since: the earliest time of their creation.
        on_replayed: called with the number of replayed deliveries after each group of up to 100.

    Raises:
        NotFound: the account does not exist.
    """
    accounts = [require_account(account_id)] if account_id else list_accounts()
    replayed = 0
    for account in accounts:
        listed = executions.newest_first(account.id, state, since)
        for group in in_groups((execution.id for execution in listed), _AT_ONCE):
            results = replay_executions(group, account.id)
            count = list(results.values()).count(ReplayResult.REPLAYED)
            replayed += count
            on_replayed(count)
    return replayed
