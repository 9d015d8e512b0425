"""Issue, list and revoke the API keys of accounts."""

from datetime import datetime

from chalicelib.domain.accounts.account import Credential
from chalicelib.domain.errors import NotFound
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.credentials import LAST_USE, CredentialRow, build_credential
from chalicelib.storage.dynamodb.table import Key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows


def create(rows: Rows, credential: Credential) -> None:
    """Add a credential in this unit of work."""
    row = rows.create(Key(CredentialRow, credential.api_key))
    row.account_id, row.secret_hash = credential.account_id, credential.secret_hash
    row.label, row.permissions = credential.label, set(credential.permissions)
    row.created_at, row.ends_at = credential.created_at, credential.ends_at


def list_for_account(account_id: str) -> list[Credential]:
    """Load the account's credentials, oldest first. One request, and one more per 100 keys."""
    rows = list(CredentialRow.by_account.query(account_id))
    uses = read_together(*(Key(CounterRow, row.api_key, LAST_USE) for row in rows))
    found = map(build_credential, rows, uses)
    return sorted(found, key=lambda c: (c.created_at, c.api_key))


def revoke(rows: Rows, api_key: str, revoked_at: datetime) -> str | None:
    """Revoke a credential in this unit of work. Return the id of its account.

    Return None if it is revoked already. One request.

    Raises:
        NotFound: the key does not exist.
    """
    key = Key(CredentialRow, api_key)
    rows.prefetch(key)
    row = rows.get(key, CredentialRow.revoked_at)
    if row is None:
        raise NotFound("API key")
    if row.revoked_at:
        return None
    row.revoked_at = revoked_at
    return row.account_id
