"""The table of counters: the number of customers, contact forms and surveys of each account.

The transaction that adds a record also increments the account's total of this kind of record. The
new total is the position of the new record in the list, so positions have no gaps. If two
transactions read the same total, only one of them succeeds.
"""

from enum import StrEnum

from pynamodb.attributes import UnicodeAttribute
from pynamodb.transactions import TransactWrite

from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table


class Listed(StrEnum):
    """The kinds of records that the API lists in pages."""

    CUSTOMERS = "customers"
    CONTACT_FORMS = "contact-forms"
    SURVEYS = "surveys"


class CounterRow(Table):
    """The table row that contains the number of an account's records of one kind."""

    class Meta:
        name = "counters"

    account_id = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    total = IntegerAttribute()


def load_total(account_id: str, kind: Listed, *, consistent: bool = False) -> int:
    """Return the number of the account's records of this kind."""
    try:
        return CounterRow.get(account_id, kind.value, consistent_read=consistent).total
    except CounterRow.DoesNotExist:
        return 0


def increment_total(
    transaction: TransactWrite, account_id: str, kind: Listed, read: int, by: int = 1
) -> None:
    """Add ``by`` to the total in this transaction.

    Args:
        read: the total that the caller has read. The transaction fails if the stored total has
            changed since.
    """
    unchanged = (CounterRow.total == read) if read else CounterRow.total.does_not_exist()
    transaction.update(
        CounterRow(account_id, kind.value),
        actions=[CounterRow.total.set(read + by)],
        condition=unchanged,
    )
