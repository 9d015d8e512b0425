"""Issue, list and revoke the API keys of accounts."""

from collections.abc import Iterable
from datetime import datetime

from chalicelib.domain.accounts.account import Credential
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.storage import account_changes
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.credentials import LAST_USE, CredentialRow, build_credential
from chalicelib.storage.dynamodb.table import Key, read_together
from chalicelib.storage.dynamodb.unit_of_work import transaction


def create(credential: Credential, change: AccountChange) -> None:
    """Create a credential and store the change for the audit, in one transaction."""
    values = vars(credential) | {"permissions": set(credential.permissions)}
    with transaction() as write:
        write.put_new(CredentialRow, values)
        account_changes.add(write, credential.account_id, [change])


def list_for_account(account_id: str) -> list[Credential]:
    """Load the account's credentials, oldest first. One request, and one more per 100 keys."""
    rows = list(CredentialRow.by_account.query(account_id))
    uses = read_together(*(Key(CounterRow, row.api_key, LAST_USE) for row in rows))
    found = map(build_credential, rows, uses)
    return sorted(found, key=lambda c: (c.created_at, c.api_key))


def revoke(credential: Credential, revoked_at: datetime, changes: Iterable[AccountChange]) -> None:
    """Revoke a credential and store the changes for the audit, in one transaction.

    Raises:
        Contention: the credential was revoked in the meantime.
    """
    revoked = CredentialRow.changes(revoked_at=revoked_at)
    with transaction() as write:
        write.update(CredentialRow(credential.api_key), revoked, CredentialRow.has(revoked_at=None))
        account_changes.add(write, credential.account_id, changes)
