"""The table of partner credentials. It contains hashes of secrets, not the secrets."""

from datetime import datetime
from typing import Any

from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex

from chalicelib.domain.accounts.account import Credential
from chalicelib.domain.errors import NotFound
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.table import Table


class _ByAccount(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_account"
        projection = AllProjection()

    account_id = UnicodeAttribute(hash_key=True)


class CredentialRow(Table):
    """The table row of a credential: a partner's API key and the hash of its secret."""

    class Meta:
        name = "credentials"

    api_key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    secret_hash = UnicodeAttribute()
    label = UnicodeAttribute()
    created_at = UnicodeAttribute()
    revoked_at = UnicodeAttribute(null=True)
    by_account = _ByAccount()


def save(credential: Credential) -> None:
    """Create a credential."""
    CredentialRow(
        credential.api_key,
        account_id=credential.account_id,
        secret_hash=credential.secret_hash,
        label=credential.label,
        created_at=format_timestamp(credential.created_at),
    ).save()


def find(api_key: str) -> Credential | None:
    """Load the credential of an API key, even if it is revoked. Return None if it is unknown."""
    try:
        return _credential(CredentialRow.get(api_key))
    except CredentialRow.DoesNotExist:
        return None


def list_for_account(account_id: str) -> list[Credential]:
    """Load the account's credentials, oldest first."""
    rows = CredentialRow.by_account.query(account_id)
    return sorted(map(_credential, rows), key=lambda c: (c.created_at, c.api_key))


def revoke(api_key: str, at: datetime) -> None:
    """Revoke a credential. If it is already revoked, its revocation time does not change.

    Raises:
        NotFound: the API key does not exist.
    """
    try:
        row = CredentialRow.get(api_key)
    except CredentialRow.DoesNotExist:
        raise NotFound("API key") from None
    if row.revoked_at is None:
        row.update([CredentialRow.revoked_at.set(format_timestamp(at))])


def _credential(row: CredentialRow) -> Credential:
    return Credential(
        api_key=row.api_key,
        account_id=row.account_id,
        secret_hash=row.secret_hash,
        label=row.label,
        created_at=datetime.fromisoformat(row.created_at),
        revoked_at=datetime.fromisoformat(row.revoked_at) if row.revoked_at else None,
    )
