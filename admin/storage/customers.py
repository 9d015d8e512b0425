"""Replace customers."""

from collections.abc import Callable

from chalicelib.domain.customers.customer import Customer
from chalicelib.storage import customer_changes
from chalicelib.storage.customer_creation import Created, create
from chalicelib.storage.customers import build_customer, customer_key, in_order
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit


def replace(
    account_id: str, customer_id: str, merge: Callable[[Customer | None], Customer]
) -> Created:
    """Replace the customer with this id, or add a new customer.

    The counts and the position do not change.

    Args:
        merge: returns the customer that replaces the stored customer, or the new customer if it is
            called with None.
    """

    def use_case(rows: Rows) -> Created:
        key = customer_key(account_id, customer_id)
        rows.prefetch(key)
        row = rows.get(key)
        if row is None:
            return create(account_id, merge(None))
        earlier = build_customer(row)
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
        customer_changes.change(rows, account_id, earlier, merged)
        return Created(merged, row.input_hash, bool(row.position))

    return commit(use_case)
