"""The table of partner credentials. It contains hashes of secrets, not the secrets."""

from collections.abc import Iterable
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute

from chalicelib.domain.accounts.account import Credential, Permission
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.attributes import TimestampAttribute
from chalicelib.storage.dynamodb.indexes import ALL, index
from chalicelib.storage.dynamodb.table import Table, fields_of
from chalicelib.storage.dynamodb.transactions import put_new, transaction


class CredentialRow(Table):
    """The table row of a credential: a partner's API key and the hash of its secret."""

    class Meta:
        name = "credentials"

    api_key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    secret_hash = UnicodeAttribute()
    label = UnicodeAttribute()
    created_at = TimestampAttribute()
    revoked_at = TimestampAttribute(null=True)
    permissions = UnicodeSetAttribute()
    by_account = index("account_id", projection=ALL)


def create(credential: Credential, change: AccountChange) -> None:
    """Create a credential and store the change for the audit, in one transaction."""
    values = vars(credential) | {"permissions": set(credential.permissions)}
    with transaction() as write:
        put_new(write, CredentialRow, values)
        account_changes.add(write, credential.account_id, [change])


def find(api_key: str) -> Credential | None:
    """Load the credential of an API key, even if it is revoked. Return None if it is unknown."""
    row = CredentialRow.find(api_key, consistent=False)
    return _credential(row) if row else None


def list_for_account(account_id: str) -> list[Credential]:
    """Load the account's credentials, oldest first."""
    rows = CredentialRow.by_account.query(account_id)
    return sorted(map(_credential, rows), key=lambda c: (c.created_at, c.api_key))


def revoke(credential: Credential, revoked_at: datetime, changes: Iterable[AccountChange]) -> None:
    """Revoke a credential and store the changes for the audit, in one transaction.

    Raises:
        Contention: the credential was revoked in the meantime.
    """
    revoked = CredentialRow.changes(revoked_at=revoked_at)
    with transaction() as write:
        write.update(CredentialRow(credential.api_key), revoked, CredentialRow.has(revoked_at=None))
        account_changes.add(write, credential.account_id, changes)


def _credential(row: CredentialRow) -> Credential:
    permissions = frozenset(map(Permission, row.permissions))
    return Credential(**fields_of(row, Credential) | {"permissions": permissions})
