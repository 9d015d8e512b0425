"""Issue, list and revoke the API keys of accounts."""

from collections.abc import Iterable
from datetime import datetime

from chalicelib.domain.accounts.account import Credential
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.storage import account_changes
from chalicelib.storage.credentials import CredentialRow, build_credential
from chalicelib.storage.dynamodb.transactions import put_new, transaction


def create(credential: Credential, change: AccountChange) -> None:
    """Create a credential and store the change for the audit, in one transaction."""
    values = vars(credential) | {"permissions": set(credential.permissions)}
    with transaction() as write:
        put_new(write, CredentialRow, values)
        account_changes.add(write, credential.account_id, [change])


def list_for_account(account_id: str) -> list[Credential]:
    """Load the account's credentials, oldest first."""
    rows = CredentialRow.by_account.query(account_id)
    return sorted(map(build_credential, rows), key=lambda c: (c.created_at, c.api_key))


def revoke(credential: Credential, revoked_at: datetime, changes: Iterable[AccountChange]) -> None:
    """Revoke a credential and store the changes for the audit, in one transaction.

    Raises:
        Contention: the credential was revoked in the meantime.
    """
    revoked = CredentialRow.changes(revoked_at=revoked_at)
    with transaction() as write:
        write.update(CredentialRow(credential.api_key), revoked, CredentialRow.has(revoked_at=None))
        account_changes.add(write, credential.account_id, changes)
