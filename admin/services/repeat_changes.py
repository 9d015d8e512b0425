"""Repeat the recorded revocations and closings after a restore from a backup.

The table of account changes survives a restore. The tables of credentials, accounts, forms and
workflows return to their earlier state, in which a revoked key or a closed account is usable.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from admin.services.accounts.manage import KEY, REVOKED
from admin.services.close_account import CLOSED, disable, subject_of
from admin.services.webhooks import secret
from admin.storage import accounts, history, keys
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import NotFound
from chalicelib.storage import credentials
from chalicelib.storage.dynamodb.unit_of_work import commit


@dataclass
class RepeatedChanges:
    """The changes that were repeated, and those that an operator must repeat.

    An operator repeats no changes of closed accounts, and issues no revoked keys again.

    Attributes:
        revoked_keys: API keys that are revoked again.
        closed_accounts: the ids of accounts that are closed again.
        lost_keys: API keys that were issued after the time of the restore, with their accounts.
            They do not exist any more.
        rotated_secrets: the ids of accounts whose webhook secret was rotated after the time of the
            restore. An earlier secret signs their webhooks.
    """

    revoked_keys: list[str] = field(default_factory=list)
    closed_accounts: list[str] = field(default_factory=list)
    lost_keys: dict[str, str] = field(default_factory=dict)
    rotated_secrets: list[str] = field(default_factory=list)


def repeat_changes(restored_to: datetime, operator: str) -> RepeatedChanges:
    """Revoke recorded keys and close recorded accounts again. You can repeat the call.

    All recorded changes count, not only those after the time of the restore: a revocation and a
    closing are never undone. AWS requests: one per MB of changes, one per recorded revocation of a
    key, one more for each key that is revoked again, one per key that was issued after the restored
    time, and those of closing an account, without its customers.

    Args:
        operator: the identity of the operator who restores.
    """
    repeated = RepeatedChanges()
    closed: set[str] = set()
    rotated: dict[str, None] = {}
    for account_id, change in history.scan():
        kind, _, name = change.subject.partition(" ")
        is_lost = change.changed_at > restored_to
        if kind == KEY and change.new == REVOKED:
            repeated.lost_keys.pop(name, None)
            if _revoke(name, change.changed_at):
                repeated.revoked_keys.append(name)
        elif kind == KEY:
            if is_lost and credentials.find(name) is None:
                repeated.lost_keys[name] = account_id
        elif change.subject == subject_of(account_id) and change.new == CLOSED:
            closed.add(account_id)
            if _close(account_id, change, operator):
                repeated.closed_accounts.append(account_id)
        elif change.subject.startswith(secret.SUBJECT) and is_lost:
            rotated[account_id] = None
    repeated.lost_keys = {k: each for k, each in repeated.lost_keys.items() if each not in closed}
    repeated.rotated_secrets = [each for each in rotated if each not in closed]
    return repeated


def _revoke(api_key: str, revoked_at: datetime) -> bool:
    """Revoke a key again. Return False if it is revoked or does not exist."""
    with suppress(NotFound):
        return bool(commit(lambda rows: keys.revoke(rows, api_key, revoked_at)))
    return False


def _close(account_id: str, change: AccountChange, operator: str) -> bool:
    """Close an account again. Return whether the account or anything in it was open."""
    try:
        was_open = commit(lambda rows: accounts.close(rows, account_id, change.changed_at))
    except NotFound:
        return False
    # The restored account can be closed in part: an interrupted closing is continued.
    return any(vars(disable(account_id, operator)).values()) or was_open
