"""Delete a customer, and keep the account's list of customers and its pairs consistent.

The last customer of the list moves into the position of the deleted customer, so that the positions
have no gap. The pair passes to the next oldest customer that has it.
"""

from datetime import datetime

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Blocked
from chalicelib.domain.paging import block_of
from chalicelib.domain.work import MAX_WAIT
from chalicelib.storage import counters, lists
from chalicelib.storage.counters import CounterRow, Listed, counter_key
from chalicelib.storage.customer_changes import release_pair
from chalicelib.storage.customers import CustomerRow, build_customer, customer_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows


def delete(
    rows: Rows, account_id: str, customer_id: str, now: datetime
) -> tuple[Customer, str | None] | None:
    """Delete a customer in this unit of work. Return None if it does not exist.

    Otherwise, return the customer, and the id of the customer in the row of its pair afterwards.
    Reserve the account's counter: while it is reserved, creates do not write it, so they do not
    contend with the deletion. Two to six AWS requests: the customer, the counter, the pair, the
    last position and the next customer with the pair.

    Raises:
        Contention: an index is not up to date yet.
    """
    key = customer_key(account_id, customer_id)
    rows.prefetch(key)
    row = rows.get(key, CustomerRow.position, CustomerRow.email, CustomerRow.phone_number)
    if row is None:
        return None
    total = counters.reserve(account_id, Listed.CUSTOMERS, now)
    if row.position:
        _close_gap(rows, account_id, row.position, total)
    customer = build_customer(row)
    rows.remove(key)
    return customer, release_pair(rows, account_id, customer)


def _close_gap(rows: Rows, account_id: str, position: int, total: int) -> None:
    counter = counter_key(account_id, Listed.CUSTOMERS)
    rows.expect(counter, CounterRow.total, total)
    rows.set(counter, CounterRow.total, total - 1)
    rows.add(counter, CounterRow.erasures, 1)
    if position != total:
        last = _find_at(account_id, total)
        rows.expect(last, CustomerRow.position, total)
        lists.move_to(rows, last, account_id, position)


def _find_at(account_id: str, position: int) -> Key[CustomerRow]:
    key = lists.block_key(account_id, block_of(position))
    for row in CustomerRow.by_block.query(key, CustomerRow.position == position):
        return row.own_key()
    blocked = Blocked(f"no customer at position {position}", MAX_WAIT)
    raise Contention(blocked=blocked)
