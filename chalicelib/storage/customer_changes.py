"""Change a customer, and keep the rows of its old and new pair consistent."""

from dataclasses import dataclass

from pynamodb.transactions import TransactWrite

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import pair_of
from chalicelib.storage import customers
from chalicelib.storage.customer_pairs import Release, Take, plan_release, plan_take
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key


@dataclass(frozen=True)
class Change:
    """A change of a customer.

    Attributes:
        earlier: the customer as it was loaded.
        pairs: the rows of the old and of the new pair; None if the pair stays the same.
    """

    account_id: str
    earlier: Customer
    changed: Customer
    pairs: tuple[Release, Take] | None


def plan(account_id: str, earlier: Customer, changed: Customer) -> Change:
    """Read the rows that a change writes. No AWS request, or up to five if the pair changes."""
    old, new = (pair_of(each.email, each.phone_number) for each in (earlier, changed))
    pairs = None
    if old != new:
        pairs = plan_release(account_id, earlier), plan_take(account_id, changed)
    return Change(account_id, earlier, changed, pairs)


def save(write: TransactWrite, change: Change) -> None:
    """Change the fields of a customer that differ, in this transaction.

    The transaction fails if the customer or a row of a pair has changed since it was loaded.
    """
    customers.change(write, change.account_id, change.earlier, change.changed)
    if change.pairs is None:
        return
    release, take = change.pairs
    release.add_to(write)
    take.add_to(write)
    if holder := release.next_holder:
        key = account_key(change.account_id, holder.id)
        write.condition_check(CustomerRow, key, condition=customers.has_same_addresses(holder))
