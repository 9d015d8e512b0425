"""The tables of customers and customer pairs.

A pair is an e-mail address and a phone number. Its row contains the id of the account's oldest
customer with this pair.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.update import Action
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.transactions import TransactWrite

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair, pair_of
from chalicelib.domain.customers.platforms import IDENTIFIERS, IMPORT_METADATA_KEY, DataSource
from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage import counters
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, JsonAttribute
from chalicelib.storage.dynamodb.table import Table, account_key, read_together
from chalicelib.storage.dynamodb.transactions import put_new, retry_on_contention, transaction

_SOURCE_ORDER: Final = {source.value: index for index, source in enumerate(DataSource)}


class _ByPosition(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_position"
        projection = AllProjection()

    account_id = UnicodeAttribute(hash_key=True)
    position = IntegerAttribute(range_key=True)


class CustomerRow(Table):
    """The table row of a customer.

    The row has no attribute for an unset field, so that an import can check and set each unset
    field separately.
    """

    class Meta:
        name = "customers"

    key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    position = IntegerAttribute()
    id = UnicodeAttribute()
    created_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    description = UnicodeAttribute(null=True)
    company = UnicodeAttribute(null=True)
    first_name = UnicodeAttribute(null=True)
    last_name = UnicodeAttribute(null=True)
    display_name = UnicodeAttribute(null=True)
    language = UnicodeAttribute(null=True)
    phone_number = UnicodeAttribute(null=True)
    email = UnicodeAttribute(null=True)
    email_bounced = BooleanAttribute(null=True)
    civility = UnicodeAttribute(null=True)
    email_optin = BooleanAttribute(null=True)
    sms_optin = BooleanAttribute(null=True)
    vars().update({identifier: UnicodeAttribute(null=True) for identifier in IDENTIFIERS})
    declared_type = UnicodeAttribute(null=True)
    feedback_count = IntegerAttribute(null=True)
    purchase_count = IntegerAttribute(null=True)
    rating_sum = IntegerAttribute(null=True)
    rating_count = IntegerAttribute(null=True)
    data_sources = UnicodeSetAttribute(null=True)
    tag_ids = JsonAttribute(null=True)
    attributes = JsonAttribute(null=True)
    import_metadata = JsonAttribute(null=True)
    source_metadata = JsonAttribute(null=True)
    input_hash = UnicodeAttribute(null=True)
    by_position = _ByPosition()


class CustomerPairRow(Table):
    """The table row that contains the id of the oldest customer with a pair."""

    class Meta:
        name = "customer-pairs"

    key = UnicodeAttribute(hash_key=True)
    customer_id = UnicodeAttribute()


def find(account_id: str, customer_id: str) -> Customer | None:
    """Load a customer of the account. Return None if it does not exist. One request."""
    try:
        return _customer(CustomerRow.get(account_key(account_id, customer_id)))
    except CustomerRow.DoesNotExist:
        return None


def find_by_pair(account_id: str, pair: CustomerPair) -> str | None:
    """Load the id of the account's oldest customer with this pair. One consistent request."""
    try:
        row = CustomerPairRow.get(account_key(account_id, pair.digest), consistent_read=True)
    except CustomerPairRow.DoesNotExist:
        return None
    return row.customer_id


def page(account_id: str, request: PageRequest) -> tuple[list[Customer], int]:
    """Load one page of customers in creation order, and the total number of customers.

    Two requests, independent of the page number.
    """
    total = counters.load_total(account_id, Listed.CUSTOMERS)
    if request.first_position > total:
        return [], total
    rows = CustomerRow.by_position.query(
        account_id,
        CustomerRow.position.between(request.first_position, min(request.last_position, total)),
    )
    return [_customer(row) for row in rows], total


def find_many(account_id: str, customer_ids: Collection[str]) -> dict[str, Customer]:
    """Load up to 100 customers of the account, by id. Omit missing ones. One consistent request."""
    rows = read_together(
        *((CustomerRow, account_key(account_id, customer_id)) for customer_id in customer_ids)
    )
    return {row.id: _customer(row) for row in rows if row}


def create(
    account_id: str, customer: Customer, input_hash: str | None = None
) -> tuple[Customer, str | None]:
    """Add a customer at the end of the account's list and return the customer and its input hash.

    If a customer with this id exists, write nothing and return the existing customer with the
    stored input hash. Two requests.

    Raises:
        Unavailable: contention on the account's counter persists.
    """
    pair = pair_of(customer.email, customer.phone_number)

    def attempt() -> tuple[Customer, str | None]:
        keys: list[Any] = [
            (CounterRow, account_id, Listed.CUSTOMERS.value),
            (CustomerRow, account_key(account_id, customer.id)),
        ]
        if pair:
            keys.append((CustomerPairRow, account_key(account_id, pair.digest)))
        counter, existing, *pair_rows = read_together(*keys)
        if existing:
            return _customer(existing), existing.input_hash
        total = counter.total if counter else 0
        with transaction() as write:
            counters.increment_total(write, account_id, Listed.CUSTOMERS, read=total)
            first_of_pair = pair.digest if pair and pair_rows == [None] else None
            add(write, account_id, customer, total + 1, first_of_pair, input_hash)
        return customer, input_hash

    return retry_on_contention(attempt)


def replace(account_id: str, customer: Customer) -> Customer:
    """Replace the customer with the same id, or add a new customer.

    The counts and the position do not change. If the pair changes, the row of the old pair is
    deleted, even if a newer customer has the same pair.
    """

    def attempt() -> Customer:
        earlier_row = read_together((CustomerRow, account_key(account_id, customer.id)))[0]
        if earlier_row is None:
            return create(account_id, customer)[0]
        earlier = _customer(earlier_row)
        merged = customer.model_copy(
            update={
                "created_at": earlier.created_at,
                "feedback_count": earlier.feedback_count,
                "purchase_count": earlier.purchase_count,
                "rating_sum": earlier.rating_sum,
                "rating_count": earlier.rating_count,
                "data_sources": _in_order({*earlier.data_sources, *customer.data_sources}),
            }
        )
        old_pair = pair_of(earlier.email, earlier.phone_number)
        new_pair = pair_of(merged.email, merged.phone_number)
        with transaction() as write:
            row = build_row(account_id, merged, earlier_row.position)
            row.input_hash = earlier_row.input_hash
            write.save(
                row,
                (CustomerRow.updated_at == earlier_row.updated_at)
                & _same(CustomerRow.purchase_count, earlier_row.purchase_count)
                & _same(CustomerRow.feedback_count, earlier_row.feedback_count),
            )
            if old_pair != new_pair:
                if old_pair and find_by_pair(account_id, old_pair) == customer.id:
                    write.delete(CustomerPairRow(account_key(account_id, old_pair.digest)))
                if new_pair and find_by_pair(account_id, new_pair) is None:
                    _save_pair(write, account_id, new_pair.digest, customer.id)
        return merged

    return retry_on_contention(attempt)


def count_purchase(
    write: TransactWrite,
    account_id: str,
    customer_id: str,
    by: int,
    source: DataSource,
    now: datetime,
) -> None:
    """Add ``by`` to the purchase count of a customer in this transaction.

    The transaction fails if the customer does not exist.

    Args:
        by: the change of the count. If it is positive, ``source`` is added to the customer's data
            sources.
    """
    actions: list[Action] = [
        CustomerRow.purchase_count.add(by),
        CustomerRow.updated_at.set(format_timestamp(now)),
    ]
    if by > 0:
        actions.append(CustomerRow.data_sources.add({source.value}))
    write.update(
        CustomerRow(account_key(account_id, customer_id)),
        actions=actions,
        condition=CustomerRow.key.exists(),
    )


def count_feedback(
    write: TransactWrite,
    account_id: str,
    customer_id: str,
    ratings: Sequence[int | None],
    sources: Collection[DataSource],
    now: datetime,
) -> None:
    """Add feedback to a customer's counters and data sources in this transaction.

    The transaction fails if the customer does not exist.

    Args:
        ratings: the rating of each feedback record, or None if it has no rating.
        sources: the sources of the feedback records.
    """
    rated = [rating for rating in ratings if rating is not None]
    actions: list[Action] = [
        CustomerRow.feedback_count.add(len(ratings)),
        CustomerRow.data_sources.add({source.value for source in sources}),
        CustomerRow.updated_at.set(format_timestamp(now)),
    ]
    if rated:
        actions += [
            CustomerRow.rating_sum.add(sum(rated)),
            CustomerRow.rating_count.add(len(rated)),
        ]
    write.update(
        CustomerRow(account_key(account_id, customer_id)),
        actions=actions,
        condition=CustomerRow.key.exists(),
    )


def find_existing(keys: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the keys of the customers that exist. One request.

    Args:
        keys: up to 100 pairs of an account id and a customer id.
    """
    ordered = list(keys)
    rows = read_together(*((CustomerRow, account_key(*key)) for key in ordered))
    return {key for key, row in zip(ordered, rows, strict=True) if row}


def find_or_create(account_id: str, customer: Customer, pair: CustomerPair) -> str:
    """Return the id of the account's oldest customer with this pair.

    If there is none, add ``customer`` and return its id. A repeated call adds no second customer.
    One request if a customer with the pair exists, otherwise two.

    Raises:
        Unavailable: contention on the account's counter persists.
    """

    def attempt() -> str:
        counter, existing, pair_row = read_together(
            (CounterRow, account_id, Listed.CUSTOMERS.value),
            (CustomerRow, account_key(account_id, customer.id)),
            (CustomerPairRow, account_key(account_id, pair.digest)),
        )
        if pair_row:
            return str(pair_row.customer_id)
        if existing:
            return customer.id
        total = counter.total if counter else 0
        with transaction() as write:
            counters.increment_total(write, account_id, Listed.CUSTOMERS, read=total)
            add(write, account_id, customer, total + 1, pair.digest)
        return customer.id

    return retry_on_contention(attempt)


def add(
    write: TransactWrite,
    account_id: str,
    customer: Customer,
    position: int,
    first_of_pair: str | None,
    input_hash: str | None = None,
) -> None:
    """Add a customer at this position of the account's list, in this transaction.

    The transaction fails if a customer with this id or a row for this pair already exists.

    Args:
        first_of_pair: the digest of the customer's pair. None if the customer has no pair or if
            another customer of the account already has the same pair.
    """
    attributes = _attributes(account_id, customer, position)
    put_new(write, CustomerRow, {**attributes, "input_hash": input_hash})
    if first_of_pair:
        key = account_key(account_id, first_of_pair)
        put_new(write, CustomerPairRow, {"key": key, "customer_id": customer.id})


def fill(
    write: TransactWrite, account_id: str, customer_id: str, fields: dict[str, Any], now: datetime
) -> None:
    """Set unset fields of a customer in this transaction.

    The transaction fails if one of the fields is already set or the customer does not exist.
    """
    unset = CustomerRow.key.exists()
    actions: list[Action] = [CustomerRow.updated_at.set(format_timestamp(now))]
    for name, value in fields.items():
        attribute = getattr(CustomerRow, name)
        actions.append(attribute.set(value))
        unset &= attribute.does_not_exist()
    write.update(CustomerRow(account_key(account_id, customer_id)), actions, condition=unset)


def build_row(account_id: str, customer: Customer, position: int) -> CustomerRow:
    """Build the table row of a customer at this position of the account's list."""
    return CustomerRow(**_attributes(account_id, customer, position))


def _save_pair(write: TransactWrite, account_id: str, digest: str, customer_id: str) -> None:
    write.save(
        CustomerPairRow(account_key(account_id, digest), customer_id=customer_id),
        CustomerPairRow.key.does_not_exist(),
    )


def _same(attribute: Any, value: Any) -> Any:
    return attribute.does_not_exist() if value is None else attribute == value


def _in_order(sources: Iterable[str]) -> tuple[DataSource, ...]:
    return tuple(DataSource(s) for s in sorted(sources, key=_SOURCE_ORDER.__getitem__))


_COPIED: Final = (
    "id",
    "description",
    "company",
    "first_name",
    "last_name",
    "display_name",
    "phone_number",
    "email",
    "civility",
    *IDENTIFIERS,
    "email_bounced",
    "email_optin",
    "sms_optin",
    "feedback_count",
    "purchase_count",
    "rating_sum",
    "rating_count",
)


def _attributes(account_id: str, customer: Customer, position: int) -> dict[str, Any]:
    metadata = dict(customer.metadata)
    imported = metadata.pop(IMPORT_METADATA_KEY, None)
    attributes: dict[str, Any] = {
        "key": account_key(account_id, customer.id),
        "account_id": account_id,
        "position": position,
        "created_at": format_timestamp(customer.created_at),
        "updated_at": format_timestamp(customer.updated_at),
        "language": customer.language and customer.language.value,
        "declared_type": customer.declared_type and customer.declared_type.value,
        "data_sources": {source.value for source in customer.data_sources},
        "tag_ids": list(customer.tag_ids),
        "attributes": [value.model_dump(mode="json") for value in customer.attributes],
        "import_metadata": imported,
        "source_metadata": metadata,
        **{name: getattr(customer, name) for name in _COPIED},
    }
    return {name: value for name, value in attributes.items() if value}


def _customer(row: CustomerRow) -> Customer:
    fields = row.attribute_values
    metadata = fields.get("source_metadata", {})
    if "import_metadata" in fields:
        metadata = {IMPORT_METADATA_KEY: fields["import_metadata"], **metadata}
    sources = _in_order(fields.get("data_sources", ()))
    return Customer.model_validate({**fields, "metadata": metadata, "data_sources": sources})
