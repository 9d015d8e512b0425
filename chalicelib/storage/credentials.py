"""The table of partner credentials. It contains hashes of secrets, not the secrets.

The API must not write this table, so the table of counters contains the last uses of the keys.
"""

from datetime import datetime
from typing import Final

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute

from chalicelib.domain.accounts.account import Credential, Permission
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.dynamodb.attributes import TimestampAttribute, optional
from chalicelib.storage.dynamodb.indexes import ALL, index
from chalicelib.storage.dynamodb.table import Key, Table, fields_of
from chalicelib.storage.dynamodb.unit_of_work import Rows

LAST_USE: Final = "last-use"
"""The kind of the counter row of an API key."""


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
    ends_at = optional(TimestampAttribute)
    permissions = UnicodeSetAttribute()
    by_account = index("account_id", projection=ALL)


def find(api_key: str) -> Credential | None:
    """Load the credential of an API key, even if it is revoked or expired. One request.

    Return None if the key is unknown.
    """
    key, key_of_use = Key(CredentialRow, api_key), Key(CounterRow, api_key, LAST_USE)
    read = Rows()
    read.prefetch(key, key_of_use)
    row = read.known(key)
    return build_credential(row, read.known(key_of_use)) if row else None


def build_credential(row: CredentialRow, use: CounterRow | None) -> Credential:
    """Build a credential from its table row, and from the counter row of its last use."""
    read = {
        "permissions": frozenset(map(Permission, row.permissions)),
        "last_used_at": use.used_at if use else None,
    }
    return Credential(**fields_of(row, Credential) | read)


def mark_used(api_key: str, day: datetime) -> None:
    """Store the day on which a key is used. One request.

    Args:
        day: the start of the day in UTC.

    Raises:
        Unavailable: the database throttles or does not respond.
    """
    CounterRow(api_key, LAST_USE).update([CounterRow.used_at.set(day)])
