"""Change a customer, and keep the rows of its old and new pair consistent."""

from collections.abc import Callable

from pynamodb.transactions import TransactWrite

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import pair_of
from chalicelib.storage import customers
from chalicelib.storage.customer_pairs import plan_release, plan_take
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.dynamodb.transactions import transaction


def save(
    account_id: str,
    earlier: Customer,
    changed: Customer,
    also: Callable[[TransactWrite], None],
) -> None:
    """Change the fields of a customer that differ, in one transaction.

    One AWS request; up to six if the pair changes.

    Args:
        earlier: the customer as it was loaded.
        also: adds more writes to the transaction.

    Raises:
        Contention: the customer or a row of a pair has changed since it was loaded.
    """
    old, new = (pair_of(each.email, each.phone_number) for each in (earlier, changed))
    release = plan_release(account_id, earlier) if old != new else None
    take = plan_take(account_id, changed) if old != new else None
    with transaction() as write:
        customers.change(write, account_id, earlier, changed)
        if release and take:
            release.add_to(write)
            take.add_to(write)
            if holder := release.next_holder:
                key = account_key(account_id, holder.id)
                condition = customers.has_same_addresses(holder)
                write.condition_check(CustomerRow, key, condition=condition)
        also(write)
