"""The table of accounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import Key, Table, find_row, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit


class AccountRow(Table):
    """The table row of an account. ``settings`` omits the name and all default values.

    An account with a retention period has ``retention_due_at``, the time in epoch seconds at which
    the sweeper continues to anonymize feedback. The index `retention` contains only these accounts.
    All feedback that was created at ``anonymized_until`` or earlier is anonymized. If the last pass
    did not anonymize all old feedback, ``retention_waits_since`` is the time in epoch seconds from
    which it waits.

    ``webhook_secret_from`` is the sort key of the account's newest webhook secret.
    """

    class Meta:
        name = "accounts"

    account_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute()
    created_at = TimestampAttribute()
    closed_at = optional(TimestampAttribute)
    settings = optional(JsonAttribute[Mapping[str, object]])
    retention_due_at = optional(IntegerAttribute)
    anonymized_until = optional(TimestampAttribute)
    retention_waits_since = optional(IntegerAttribute)
    webhook_secret_from = optional(UnicodeAttribute)
    retention = index("account_id", "retention_due_at", sort_type=IntegerAttribute)


def find_with_settings(account_id: str) -> tuple[Account, AccountSettings] | None:
    """Load an account and its settings. Return None if it does not exist. One request."""
    row = find_row(Key(AccountRow, account_id), consistent=False)
    return (build_account(row), build_settings(row)) if row else None


@dataclass(frozen=True)
class DueRetention:
    """An account whose old feedback must be anonymized.

    Attributes:
        due_at: the time in epoch seconds from which the retention is due.
        anonymized_until: all feedback that was created at this time or earlier is anonymized.
        waits_since: the time in epoch seconds from which the account's old feedback waits.
    """

    account_id: str
    retention_days: int
    due_at: int
    anonymized_until: datetime | None
    waits_since: int


def list_due_retention(now: datetime) -> list[DueRetention]:
    """Load the accounts whose retention is due, the longest overdue first.

    One request per MB of the index, about 10,000 accounts with a retention period, and one per 100
    due accounts.
    """
    entries = AccountRow.retention.scan(AccountRow.retention_due_at <= int(now.timestamp()))
    in_order = sorted(entries, key=lambda entry: entry.retention_due_at or 0)
    rows = read_together(*(Key(AccountRow, entry.account_id) for entry in in_order))
    return [
        DueRetention(
            row.account_id,
            days,
            row.retention_due_at or 0,
            row.anonymized_until,
            row.retention_waits_since or row.retention_due_at or 0,
        )
        for row in rows
        if row and (days := build_settings(row).retention_days)
    ]


def save_retention(
    due: DueRetention, anonymized_until: datetime | None, due_at: datetime, *, is_done: bool
) -> None:
    """Store the progress of the retention and the time of its next pass. One request.

    Store nothing if the retention was restarted or ended since it was loaded.

    Args:
        is_done: whether no old feedback waits any more.
    """
    key = Key(AccountRow, due.account_id)

    def save(rows: Rows) -> None:
        if rows.has_failed(key):
            return
        rows.expect(key, AccountRow.retention_due_at, due.due_at)
        rows.expect(key, AccountRow.anonymized_until, due.anonymized_until)
        rows.set(key, AccountRow.retention_due_at, int(due_at.timestamp()))
        rows.set(key, AccountRow.retention_waits_since, None if is_done else due.waits_since)
        if anonymized_until:
            rows.set(key, AccountRow.anonymized_until, anonymized_until)

    commit(save)


def build_settings(row: AccountRow) -> AccountSettings:
    """Build the settings of an account from its table row."""
    return AccountSettings.model_validate({"name": row.name, **(row.settings or {})})


def build_account(row: AccountRow) -> Account:
    """Build an account from its table row."""
    return Account(row.account_id, row.name, row.created_at, row.closed_at)
