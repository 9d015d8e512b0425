"""The table of partner credentials. It contains hashes of secrets, not the secrets."""

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute

from chalicelib.domain.accounts.account import Credential, Permission
from chalicelib.storage.dynamodb.attributes import TimestampAttribute, optional
from chalicelib.storage.dynamodb.indexes import ALL, index
from chalicelib.storage.dynamodb.table import Table, fields_of


class CredentialRow(Table):
    """The table row of a credential: a partner's API key and the hash of its secret."""

    class Meta:
        name = "credentials"

    api_key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    secret_hash = UnicodeAttribute()
    label = UnicodeAttribute()
    created_at = TimestampAttribute()
    revoked_at = optional(TimestampAttribute)
    permissions = UnicodeSetAttribute()
    by_account = index("account_id", projection=ALL)


def find(api_key: str) -> Credential | None:
    """Load the credential of an API key, even if it is revoked. Return None if it is unknown."""
    row = CredentialRow.find(api_key, consistent=False)
    return build_credential(row) if row else None


def build_credential(row: CredentialRow) -> Credential:
    """Build a credential from its table row."""
    permissions = frozenset(map(Permission, row.permissions))
    return Credential(**fields_of(row, Credential) | {"permissions": permissions})
