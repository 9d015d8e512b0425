"""Pass the rows of a pair from one customer to another.

The row of a pair contains the oldest customer with the pair. If this customer is deleted or gets
another pair, the row passes to the next oldest customer with the pair.
"""

from dataclasses import dataclass
from typing import Any

from pynamodb.transactions import TransactWrite

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair, pair_of
from chalicelib.storage import customers
from chalicelib.storage.customers import CustomerPairRow
from chalicelib.storage.dynamodb.table import account_key


@dataclass(frozen=True)
class Release:
    """The rows of a pair that a customer gives up.

    Attributes:
        owned: the digests of the pair whose rows contain the customer.
        holder: the id of the oldest customer with the pair, unless it is this customer.
        next_holder: the next oldest customer with the pair. None if this customer owns no row.
    """

    account_id: str
    customer_id: str
    owned: tuple[str, ...] = ()
    holder: str | None = None
    next_holder: Customer | None = None

    @property
    def holder_afterwards(self) -> str | None:
        """The id of the customer in the row of the pair afterwards; None without a row."""
        return self.next_holder.id if self.next_holder else self.holder

    def add_to(self, write: TransactWrite) -> None:
        """Add the writes of the rows to a transaction.

        The transaction fails if a row has changed. It must also check that the next holder still
        has the pair.
        """
        is_owned = CustomerPairRow.customer_id == self.customer_id
        for digest in self.owned:
            pair = CustomerPairRow(account_key(self.account_id, digest))
            if self.next_holder:
                passed_on = CustomerPairRow.customer_id.set(self.next_holder.id)
                write.update(pair, actions=[passed_on], condition=is_owned)
            else:
                write.delete(pair, condition=is_owned)


def plan_release(account_id: str, customer: Any) -> Release:
    """Return the rows of the pair that this customer gives up. Up to three AWS requests.

    Args:
        customer: the customer, or its table row.
    """
    pair = pair_of(customer.email, customer.phone_number)
    holders = customers.find_holders(account_id, pair.digests) if pair else {}
    owned = tuple(digest for digest, holder in holders.items() if holder == customer.id)
    return Release(
        account_id,
        customer.id,
        owned,
        next((holder for holder in holders.values() if holder != customer.id), None),
        _next_holder(account_id, customer, pair) if pair and owned else None,
    )


def _next_holder(account_id: str, customer: Any, pair: CustomerPair) -> Customer | None:
    with_address = (
        customers.find_by_email(account_id, customer.email)
        if customer.email
        else customers.find_by_phone_numbers(account_id, {customer.phone_number, pair.phone_number})
    )
    return next(
        (
            other
            for other in with_address
            if other.id != customer.id and pair_of(other.email, other.phone_number) == pair
        ),
        None,
    )


@dataclass(frozen=True)
class Take:
    """The row of a pair that a customer takes.

    Attributes:
        digest: the digest of the pair. None if an older customer has the pair.
        holder: the id of the newer customer in the row; None if there is no row.
    """

    account_id: str
    customer_id: str
    digest: str | None = None
    holder: str | None = None

    def add_to(self, write: TransactWrite) -> None:
        """Add the write of the row to a transaction. It fails if the row has changed."""
        if self.digest is None:
            return
        holder = CustomerPairRow.customer_id
        write.update(
            CustomerPairRow(account_key(self.account_id, self.digest)),
            actions=[holder.set(self.customer_id)],
            condition=CustomerPairRow.has(customer_id=self.holder),
        )


def plan_take(account_id: str, customer: Customer) -> Take:
    """Return the row of the pair that this customer takes. Up to two AWS requests."""
    pair = pair_of(customer.email, customer.phone_number)
    if pair is None:
        return Take(account_id, customer.id)
    holders = customers.find_holders(account_id, pair.digests)
    if not holders:
        return Take(account_id, customer.id, pair.digest)
    digest, holder_id = next(iter(holders.items()))
    holder = customers.find(account_id, holder_id)
    if holder and (holder.created_at, holder.id) <= (customer.created_at, customer.id):
        return Take(account_id, customer.id)
    return Take(account_id, customer.id, digest, holder_id)
