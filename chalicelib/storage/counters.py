"""The table of counters: the number of records of each kind that an account has.

The transaction that increments the total gives the new record the position ``total + 1``. Positions
are therefore dense, and of two creates that read the same total only one succeeds.
"""

from enum import StrEnum

from pynamodb.attributes import UnicodeAttribute
from pynamodb.transactions import TransactWrite

from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table


class Listed(StrEnum):
    """The kinds of records that have paged lists."""

    CUSTOMERS = "customers"
    CONTACT_FORMS = "contact-forms"
    SURVEYS = "surveys"


class CounterRow(Table):
    """The number of an account's records of one kind."""

    class Meta:
        name = "counters"

    account_id = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    total = IntegerAttribute()


def load_total(account_id: str, kind: Listed, *, consistent: bool = False) -> int:
    """Return the number of records of this kind that the account has."""
    try:
        return CounterRow.get(account_id, kind.value, consistent_read=consistent).total
    except CounterRow.DoesNotExist:
        return 0


def increment_total(
    transaction: TransactWrite, account_id: str, kind: Listed, read: int, by: int = 1
) -> None:
    """Increment the total in this transaction, which fails if the total is no longer ``read``."""
    unchanged = (CounterRow.total == read) if read else CounterRow.total.does_not_exist()
    transaction.update(
        CounterRow(account_id, kind.value),
        actions=[CounterRow.total.set(read + by)],
        condition=unchanged,
    )
