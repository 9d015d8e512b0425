"""The table of counters: how many records of a kind an account has.

A record takes the position ``total + 1`` in the transaction that raises the total, so positions are
dense, and two creators who read the same total cannot both succeed.
"""

from enum import StrEnum

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.transactions import TransactWrite

from chalicelib.storage.dynamodb.table import Table


class Listed(StrEnum):
    """The kinds of record that are listed by page."""

    CUSTOMERS = "customers"
    CONTACT_FORMS = "contact-forms"
    SURVEYS = "surveys"


class CounterRow(Table):
    """The number of an account's records of one kind."""

    class Meta:
        name = "counters"

    account_id = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    total = NumberAttribute(default=0)


def total(account_id: str, kind: Listed, *, consistent: bool = False) -> int:
    """How many records of this kind the account has."""
    try:
        return int(CounterRow.get(account_id, kind.value, consistent_read=consistent).total)
    except CounterRow.DoesNotExist:
        return 0


def increment_total(
    transaction: TransactWrite, account_id: str, kind: Listed, read: int, by: int = 1
) -> None:
    """Raises the total in this transaction, which fails unless it is still what was read."""
    unchanged = (CounterRow.total == read) if read else CounterRow.total.does_not_exist()
    transaction.update(
        CounterRow(account_id, kind.value),
        actions=[CounterRow.total.set(read + by)],
        condition=unchanged,
    )
