"""Change a customer, and pass the row of a pair from one customer to another.

The row of a pair contains the oldest customer with the pair. If this customer is deleted or gets
another pair, the row passes to the next oldest customer with the pair.
"""

from chalicelib.domain.customers.addresses import CustomerPair, pair_of
from chalicelib.domain.customers.customer import Customer
from chalicelib.storage import customers
from chalicelib.storage.customers import CustomerPairRow, customer_key, pair_key
from chalicelib.storage.dynamodb.unit_of_work import Rows


def change(rows: Rows, account_id: str, earlier: Customer, changed: Customer) -> None:
    """Change the fields of a customer that differ. The unit of work has fetched the customer.

    No AWS request, or up to five if the pair changes.
    """
    customers.change(rows, account_id, changed)
    old, new = (pair_of(each.email, each.phone_number) for each in (earlier, changed))
    if old != new:
        release_pair(rows, account_id, earlier)
        if new:
            _take_pair(rows, account_id, changed, new)


def release_pair(rows: Rows, account_id: str, customer: Customer) -> str | None:
    """Pass the row of a customer's pair to the next oldest customer with the pair.

    Return the id of the customer in the row afterwards; None without a row. Up to three AWS
    requests.
    """
    pair = pair_of(customer.email, customer.phone_number)
    if pair is None:
        return None
    key = pair_key(account_id, pair.digest)
    rows.prefetch(key)
    # Meanwhile, the row must not pass to this customer, and no other customer may get the pair.
    holder = rows.get(key)
    if holder and holder.customer_id != customer.id:
        return holder.customer_id
    following = None
    if holder:
        following = customers.fetch_other_with_pair(rows, account_id, customer.id, pair)
    if following is None:
        # A row that was not found may be that of this customer, and not visible yet.
        rows.remove(key)
        return None
    rows.set(key, CustomerPairRow.customer_id, following.id)
    return following.id


def _take_pair(rows: Rows, account_id: str, customer: Customer, pair: CustomerPair) -> None:
    """Store a customer in the row of a pair, unless an older customer has the pair."""
    key = pair_key(account_id, pair.digest)
    rows.prefetch(key)
    if holder_id := rows.value(key, CustomerPairRow.customer_id):
        holder_key = customer_key(account_id, holder_id)
        rows.prefetch(holder_key)
        holder = rows.peek(holder_key, because="if it was deleted, the row has changed")
        if holder and (holder.created_at, holder.id) < (customer.created_at, customer.id):
            customers.share_pair(rows, key)
            return
    rows.set(key, CustomerPairRow.customer_id, customer.id)
