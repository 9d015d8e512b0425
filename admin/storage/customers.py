"""Replace customers."""

from collections.abc import Callable

from chalicelib.domain.customers.customer import Customer
from chalicelib.storage import customer_changes
from chalicelib.storage.customer_creation import Created, create
from chalicelib.storage.customers import (
    CustomerRow,
    build_customer,
    in_order,
)
from chalicelib.storage.dynamodb.table import account_key, read_together
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import transaction


def replace(
    account_id: str, customer_id: str, merge: Callable[[Customer | None], Customer]
) -> Created:
    """Replace the customer with this id, or add a new customer.

    The counts and the position do not change.

    Args:
        merge: returns the customer that replaces the stored customer, or the new customer if it is
            called with None.
    """

    def attempt() -> Created:
        earlier_row = read_together((CustomerRow, account_key(account_id, customer_id)))[0]
        if earlier_row is None:
            return create(account_id, merge(None))
        earlier = build_customer(earlier_row)
        replacing = merge(earlier)
        merged = replacing.model_copy(
            update={
                "created_at": earlier.created_at,
                "feedback_count": earlier.feedback_count,
                "purchase_count": earlier.purchase_count,
                "rating_sum": earlier.rating_sum,
                "rating_count": earlier.rating_count,
                "data_sources": in_order({*earlier.data_sources, *replacing.data_sources}),
            }
        )
        change = customer_changes.plan(account_id, earlier, merged)
        with transaction() as write:
            customer_changes.save(write, change)
        return Created(merged, earlier_row.input_hash, bool(earlier_row.position))

    return retry_on_contention(attempt)
