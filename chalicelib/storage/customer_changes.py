"""Change a customer, and pass the row of a pair from one customer to another.

The row of a pair contains the oldest customer with the pair. If this customer is deleted or gets
another pair, the row passes to the next oldest customer with the pair.
"""

from dataclasses import dataclass
from typing import Any

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import pair_of
from chalicelib.storage import customers
from chalicelib.storage.customers import CustomerPairRow, CustomerRow
from chalicelib.storage.dynamodb.table import Key, account_key
from chalicelib.storage.dynamodb.unit_of_work import Rows


@dataclass(frozen=True)
class Release:
    """The row of a pair that a customer gives up.

    Attributes:
        digest: the digest of the pair; None without a pair.
        holder: the id of the customer in the row of the pair, as it was read; None without a row.
        next_holder: the next oldest customer with the pair. None if the row contains another one.
    """

    account_id: str
    customer_id: str
    digest: str | None = None
    holder: str | None = None
    next_holder: Customer | None = None

    @property
    def holder_afterwards(self) -> str | None:
        """The id of the customer in the row of the pair afterwards; None without a row."""
        if self.next_holder:
            return self.next_holder.id
        return self.holder if self.holder != self.customer_id else None

    def add_to(self, write: Rows, *, checks_holder: bool = True) -> None:
        """Add the writes of the row to a transaction. The transaction fails if a row has changed.

        Args:
            checks_holder: whether to check that the next holder still has the pair. If False, the
                transaction must check this in another write of the next holder.
        """
        if self.digest:
            pair = CustomerPairRow(account_key(self.account_id, self.digest))
            is_unchanged = CustomerPairRow.has(customer_id=self.holder)
            if self.next_holder:
                passed_on = CustomerPairRow.changes(customer_id=self.next_holder.id)
                write.update(pair, passed_on, is_unchanged)
            elif self.holder in (None, self.customer_id):
                # A row that was not found may be that of this customer, and not visible yet.
                write.delete(pair, condition=is_unchanged)
        if self.next_holder and checks_holder:
            key = account_key(self.account_id, self.next_holder.id)
            has_pair = customers.has_same_addresses(self.next_holder)
            write.condition_check(Key(CustomerRow, key), has_pair)


def plan_release(account_id: str, customer: Any) -> Release:
    """Return the row of the pair that this customer gives up. Up to three AWS requests.

    Args:
        customer: the customer, or its table row.
    """
    pair = pair_of(customer.email, customer.phone_number)
    holder = customers.find_by_pair(account_id, pair.digest) if pair else None
    next_holder = None
    if pair and holder == customer.id:
        next_holder = customers.find_other_with_pair(account_id, customer.id, pair)
    digest = pair.digest if pair else None
    return Release(account_id, customer.id, digest, holder, next_holder)


@dataclass(frozen=True)
class Change:
    """A change of a customer.

    Attributes:
        earlier: the customer as it was loaded.
        release: the row of the old pair; None if the pair stays the same.
        taken: the digest of the new pair, and the id of the newer customer in its row or None. None
            if the pair stays the same or an older customer has the new pair.
    """

    account_id: str
    earlier: Customer
    changed: Customer
    release: Release | None = None
    taken: tuple[str, str | None] | None = None


def plan(account_id: str, earlier: Customer, changed: Customer) -> Change:
    """Read the rows that a change writes. No AWS request, or up to five if the pair changes."""
    old, new = (pair_of(each.email, each.phone_number) for each in (earlier, changed))
    if old == new:
        return Change(account_id, earlier, changed)
    release, taken = plan_release(account_id, earlier), None
    if new:
        holder_id = customers.find_by_pair(account_id, new.digest)
        holder = customers.find(account_id, holder_id) if holder_id else None
        if not holder or (holder.created_at, holder.id) > (changed.created_at, changed.id):
            taken = new.digest, holder_id
    return Change(account_id, earlier, changed, release, taken)


def save(write: Rows, change: Change) -> None:
    """Change the fields of a customer that differ, in this transaction.

    The transaction fails if the customer or a row of a pair has changed since it was loaded.
    """
    customers.change(write, change.account_id, change.earlier, change.changed)
    if change.release:
        change.release.add_to(write)
    if change.taken:
        digest, holder_id = change.taken
        write.update(
            CustomerPairRow(account_key(change.account_id, digest)),
            CustomerPairRow.changes(customer_id=change.changed.id),
            CustomerPairRow.has(customer_id=holder_id),
        )
