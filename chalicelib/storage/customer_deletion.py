"""Delete a customer, and keep the account's list of customers and its pairs consistent.

The last customer of the list moves into the position of the deleted customer, so that the positions
have no gap. The pair passes to the next oldest customer that has it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Blocked
from chalicelib.domain.paging import block_of
from chalicelib.domain.work import MAX_WAIT
from chalicelib.storage import counters, customers, lists
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customer_changes import Release, plan_release
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows


@dataclass(frozen=True)
class Deletion:
    """A customer to delete and the rows that change with it.

    Attributes:
        total: the number of listed customers.
        last: the last customer of the list, which moves to the free position; None if no customer
            moves.
        release: the row of the customer's pair.
    """

    account_id: str
    row: CustomerRow
    total: int
    last: Any
    release: Release

    @property
    def customer(self) -> Customer:
        """The customer to delete."""
        return customers.build_customer(self.row)


def plan(account_id: str, customer_id: str, now: datetime) -> Deletion | None:
    """Read the rows that the deletion of a customer changes. Return None without a customer.

    Reserve the account's counter: while it is reserved, creates do not write it, so they do not
    contend with the deletion. Two to six AWS requests: the customer, the counter, the pair, the
    last position and the next customer with the pair.

    Raises:
        Contention: an index is not up to date yet.
    """
    (row,) = read_together((CustomerRow, account_key(account_id, customer_id)))
    if row is None:
        return None
    total = counters.reserve(account_id, Listed.CUSTOMERS, now)
    last = None
    if row.position and row.position != total:
        last = _load_at(account_id, total)
    return Deletion(account_id, row, total, last, plan_release(account_id, row))


def delete(write: Rows, deletion: Deletion) -> None:
    """Delete a customer in this transaction.

    The transaction fails if one of the rows has changed since `plan` read it.
    """
    account_id, row, total = deletion.account_id, deletion.row, deletion.total
    last, holder = deletion.last, deletion.release.next_holder
    is_holder_moved = last is not None and holder is not None and last.id == holder.id
    # A transaction can contain only one action per row.
    deletion.release.add_to(write, checks_holder=not is_holder_moved)
    write.delete(
        CustomerRow(row.key),
        condition=CustomerRow.has(position=row.position) & customers.has_same_addresses(row),
    )
    if row.position is None:
        return
    write.update(
        CounterRow(account_id, Listed.CUSTOMERS.value),
        actions=[*CounterRow.changes(total=total - 1), CounterRow.erasures.add(1)],
        condition=CounterRow.total == total,
    )
    if last is not None:
        moved = CustomerRow.changes(**lists.at_position(account_id, row.position))
        unchanged = CustomerRow.has(position=total)
        if is_holder_moved:
            unchanged &= customers.has_same_addresses(holder)
        write.update(CustomerRow(last.key), moved, unchanged)


def _load_at(account_id: str, position: int) -> Any:
    key = lists.block_key(account_id, block_of(position))
    for row in CustomerRow.by_block.query(key, CustomerRow.position == position):
        return row
    blocked = Blocked(f"no customer at position {position}", MAX_WAIT)
    raise Contention(condition_failed=False, blocked=blocked)
