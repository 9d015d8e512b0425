"""The table of counters: the number of customers, contact forms and surveys of each account.

The transaction that adds a record also increments the account's total of this kind of record. The
new total is the position of the new record in the list, so positions have no gaps. If two
transactions read the same total, only one of them succeeds.

If creates contend for a counter, a worker assigns the positions. While the worker runs, it reserves
the counter, so that creates leave the assignment to the worker.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.transactions import TransactWrite

from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table

_RESERVED_FOR: Final = timedelta(seconds=10)


class Listed(StrEnum):
    """The kinds of records that the API lists in pages."""

    CUSTOMERS = "customers"
    CONTACT_FORMS = "contact-forms"
    SURVEYS = "surveys"


class CounterRow(Table):
    """The table row that contains the number of an account's records of one kind."""

    is_contended = True

    class Meta:
        name = "counters"

    account_id = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    total = IntegerAttribute(null=True)
    reserved_until = IntegerAttribute(null=True)


def load_total(account_id: str, kind: Listed, *, consistent: bool = False) -> int:
    """Return the number of the account's records of this kind."""
    try:
        return CounterRow.get(account_id, kind.value, consistent_read=consistent).total or 0
    except CounterRow.DoesNotExist:
        return 0


def total_of(counter: CounterRow | None) -> int:
    """Return the total of a counter that may not exist yet."""
    return (counter.total or 0) if counter else 0


def is_reserved(counter: CounterRow | None, now: datetime) -> bool:
    """Return whether a worker has reserved the counter to assign positions."""
    return counter is not None and (counter.reserved_until or 0) > now.timestamp()


def reserve(account_id: str, kind: Listed, now: datetime) -> int:
    """Reserve the counter for ten seconds. Return the total. One request.

    Raises:
        Unavailable: the database throttles, or contention on the counter persists.
    """
    counter = CounterRow(account_id, kind.value)
    counter.update([CounterRow.reserved_until.set(int((now + _RESERVED_FOR).timestamp()))])
    return total_of(counter)


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
