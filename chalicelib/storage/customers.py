"""The tables of customers and customer pairs.

A pair is an e-mail address and a phone number. The row of a pair contains the id of the account's
oldest customer with this pair.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import GlobalSecondaryIndex

from chalicelib.domain.customers.addresses import CustomerPair, email_hash, pair_of, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.merge import Fields
from chalicelib.domain.customers.platforms import IDENTIFIERS, IMPORT_METADATA_KEY, DataSource
from chalicelib.domain.paging import PageRequest
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.storage import counters, lists
from chalicelib.storage.counters import Listed
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import ALL, including, index
from chalicelib.storage.dynamodb.table import Key, Table, account_key, find_row, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import due_index
from chalicelib.storage.lists import ListedRow

_PAIR_CANDIDATES: Final = 10
"""The number of customers with a pair that are read to find the oldest one. The index can still
contain customers that were erased or got another pair.
"""

_SOURCE_ORDER: Final = {source.value: index for index, source in enumerate(DataSource)}


class CustomerRow(ListedRow):
    """The table row of a customer.

    An unset field has no attribute, so that an import can set each unset field separately.

    A listed customer has ``position`` and ``list_block``. A customer that still needs a position
    has ``work_shard`` and ``due_at`` instead, the keys of the index `due`. This due time is in
    epoch milliseconds, because it also determines the order in which the customers are listed. The
    index `unlisted` contains the same customers by shard and account, so that an account's
    customers are found without reading those of others.

    ``input_hash`` and ``refused_optins`` describe the request with an idempotency key that created
    the customer: the hash of its input, and its opt-ins that are stored as off, because the address
    is suppressed. ``email_hash`` and ``phone_hash`` are the contact hashes of the addresses, and
    ``pair_key`` is the key of the row of the pair.
    """

    class Meta:
        name = "customers"

    key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    work_shard = optional(UnicodeAttribute)
    due_at = optional(IntegerAttribute)
    id = UnicodeAttribute()
    created_at = TimestampAttribute()
    updated_at = TimestampAttribute()
    description = optional(UnicodeAttribute)
    company = optional(UnicodeAttribute)
    first_name = optional(UnicodeAttribute)
    last_name = optional(UnicodeAttribute)
    display_name = optional(UnicodeAttribute)
    language = optional(UnicodeAttribute)
    phone_number = optional(UnicodeAttribute)
    email = optional(UnicodeAttribute)
    email_bounced = optional(BooleanAttribute)
    civility = optional(UnicodeAttribute)
    email_optin = optional(BooleanAttribute)
    sms_optin = optional(BooleanAttribute)
    vars().update({identifier: UnicodeAttribute(null=True) for identifier in IDENTIFIERS})
    declared_type = optional(UnicodeAttribute)
    feedback_count = optional(IntegerAttribute)
    purchase_count = optional(IntegerAttribute)
    rating_sum = optional(IntegerAttribute)
    rating_count = optional(IntegerAttribute)
    revision = optional(IntegerAttribute)
    data_sources = optional(UnicodeSetAttribute)
    tag_ids = optional(JsonAttribute[Sequence[str]])
    attributes = optional(JsonAttribute[Sequence[Mapping[str, object]]])
    import_metadata = optional(JsonAttribute[Mapping[str, str]])
    source_metadata = optional(JsonAttribute[Mapping[str, object]])
    input_hash = optional(UnicodeAttribute)
    refused_optins = optional(UnicodeSetAttribute)
    email_hash = optional(UnicodeAttribute)
    phone_hash = optional(UnicodeAttribute)
    by_block = index("list_block", "position", ALL, sort_type=IntegerAttribute)
    pair_key = optional(UnicodeAttribute)
    by_email = index("email_hash", "key", including("email_optin email_bounced"))
    by_phone = index("phone_hash", "key", including("sms_optin"))
    by_pair = index("pair_key", "created_at")
    due = due_index()
    unlisted = index("work_shard", "account_id", including("due_at"))


class CustomerPairRow(Table):
    """The table row that contains the id of the oldest customer with a pair.

    A further customer that gets the pair increments ``revision``, because the row is not removed
    as long as a customer has the pair.
    """

    class Meta:
        name = "customer-pairs"

    key = UnicodeAttribute(hash_key=True)
    customer_id = UnicodeAttribute()
    revision = optional(IntegerAttribute)


def share_pair(rows: Rows, key: Key[CustomerPairRow]) -> None:
    """Let a further customer have the pair of the customer in this row, which is not changed."""
    rows.value(key, CustomerPairRow.customer_id)
    rows.add(key, CustomerPairRow.revision, 1)


def customer_key(account_id: str, customer_id: str) -> Key[CustomerRow]:
    """Return the key of a customer's row."""
    return Key(CustomerRow, account_key(account_id, customer_id))


def pair_key(account_id: str, digest: str) -> Key[CustomerPairRow]:
    """Return the key of the row of a pair."""
    return Key(CustomerPairRow, account_key(account_id, digest))


OPTIN_OF: Final = {Channel.EMAIL: CustomerRow.email_optin, Channel.SMS: CustomerRow.sms_optin}
"""The attribute with the opt-in of each channel."""


def find(account_id: str, customer_id: str) -> Customer | None:
    """Load a customer of the account. Return None if it does not exist. One consistent request."""
    row = find_row(customer_key(account_id, customer_id))
    return build_customer(row) if row else None


def find_by_pair(account_id: str, digest: str) -> str | None:
    """Load the id of the account's oldest customer with this pair. One consistent request.

    Args:
        digest: the digest of the pair.
    """
    (row,) = read_together(pair_key(account_id, digest))
    return row.customer_id if row else None


def page(account_id: str, request: PageRequest) -> tuple[list[Customer], int]:
    """Load one page of customers in creation order, and the total number of customers.

    Two requests, independent of the page number; one more if the page spans two blocks.
    """
    total = counters.load_total(account_id, Listed.CUSTOMERS)
    rows = lists.load_page(CustomerRow, account_id, request, total)
    return [build_customer(row) for row in rows], total


def find_many(account_id: str, customer_ids: Collection[str]) -> dict[str, Customer]:
    """Load up to 100 customers by id. Omit customers that do not exist. One consistent request."""
    rows = read_together(*(customer_key(account_id, each) for each in customer_ids))
    return {row.id: build_customer(row) for row in rows if row}


def find_by_email(account_id: str, email: str, at_most: int | None = None) -> list[Customer]:
    """Load the account's customers with this e-mail address, oldest first.

    Two requests; one more per further 100 customers. The index is eventually consistent.

    Args:
        at_most: the maximum number of customers to read. If there are more, the choice is random.
    """
    return _load_indexed(CustomerRow.by_email, [email_hash(account_id, email)], at_most)


def find_by_phone_numbers(
    account_id: str, phone_numbers: Collection[str], at_most: int | None = None
) -> list[Customer]:
    """Load the account's customers with one of these phone numbers, oldest first.

    Two requests for one number with up to 100 customers; one more for each further number and for
    each further 100 customers.
    """
    hashes = {phone_hash(account_id, phone_number) for phone_number in phone_numbers}
    return _load_indexed(CustomerRow.by_phone, hashes, at_most)


def fetch_other_with_pair(
    rows: Rows, account_id: str, customer_id: str, pair: CustomerPair
) -> Customer | None:
    """Fetch the account's oldest other customer with this pair, and rely on its pair.

    Two requests. The index is eventually consistent.
    """
    key_of_pair = account_key(account_id, pair.digest)
    entries = CustomerRow.by_pair.query(key_of_pair, limit=_PAIR_CANDIDATES)
    own_key = account_key(account_id, customer_id)
    keys = [Key(CustomerRow, entry.key) for entry in entries if entry.key != own_key]
    rows.prefetch(*keys)
    candidates = (rows.peek(key, because="only the oldest one counts") for key in keys)
    found = [row for row in candidates if row and row.pair_key == key_of_pair]
    oldest = min(found, key=lambda row: (row.created_at, row.id), default=None)
    if oldest:
        rows.value(oldest.own_key(), CustomerRow.pair_key)
    return build_customer(oldest) if oldest else None


def _load_indexed(
    index: GlobalSecondaryIndex[CustomerRow],
    contact_hashes: Iterable[str | None],
    at_most: int | None,
) -> list[Customer]:
    keys = [
        row.key
        for contact_hash in filter(None, contact_hashes)
        for row in index.query(contact_hash, limit=at_most)
    ][:at_most]
    rows = read_together(*(Key(CustomerRow, key) for key in keys))
    found = [build_customer(row) for row in rows if row]
    return sorted(found, key=lambda customer: (customer.created_at, customer.id))


def change(rows: Rows, account_id: str, changed: Customer) -> None:
    """Change the fields of a customer that differ. The unit of work has fetched the customer."""
    if row := rows.get(customer_key(account_id, changed.id)):
        set_fields(row, account_id, changed)


def count_purchases(
    rows: Rows, key: Key[CustomerRow], by: int, now: datetime, source: DataSource | None = None
) -> None:
    """Add to the number of a customer's purchases, and add the source of a purchase.

    The transaction fails if the customer does not exist.
    """
    rows.require(key)
    rows.add(key, CustomerRow.purchase_count, by)
    if source:
        rows.add(key, CustomerRow.data_sources, {source.value})
    rows.set(key, CustomerRow.updated_at, now)


def count_feedback(
    rows: Rows,
    key: Key[CustomerRow],
    rating: int | None,
    source: DataSource,
    now: datetime,
    *,
    by: int = 1,
) -> None:
    """Add a feedback record to a customer's counters and data sources in this unit of work.

    The transaction fails if the customer does not exist.

    Args:
        by: 1 to add the feedback, -1 to subtract it. Subtracting keeps the data sources.
    """
    rows.require(key)
    rows.add(key, CustomerRow.feedback_count, by)
    if rating is not None:
        rows.add(key, CustomerRow.rating_sum, by * rating)
        rows.add(key, CustomerRow.rating_count, by)
    if by > 0:
        rows.add(key, CustomerRow.data_sources, {source.value})
    rows.set(key, CustomerRow.updated_at, now)


def fill(rows: Rows, account_id: str, customer_id: str, fields: Fields, now: datetime) -> None:
    """Set unset fields of a customer that the unit of work has fetched.

    The transaction fails if one of the fields is set meanwhile or the customer is deleted.
    """
    attributes = CustomerRow.get_attributes()
    key = customer_key(account_id, customer_id)
    if row := rows.get(key, *(attributes[name] for name in fields)):
        row.attribute_values |= fields
        row.email_hash = email_hash(account_id, row.email)
        row.phone_hash = phone_hash(account_id, row.phone_number)
        row.updated_at = now


def in_order(sources: Iterable[str]) -> tuple[DataSource, ...]:
    """Return data sources in the order of their enum."""
    return tuple(DataSource(s) for s in sorted(sources, key=_SOURCE_ORDER.__getitem__))


def set_fields(row: CustomerRow, account_id: str, customer: Customer) -> None:
    """Set the attributes of a customer's row, except its place in the list."""
    stored = {**row.attribute_values}
    row.account_id, row.id = account_id, customer.id
    row.created_at, row.updated_at = customer.created_at, customer.updated_at
    row.description, row.company = customer.description, customer.company
    row.first_name, row.last_name = customer.first_name, customer.last_name
    row.display_name, row.civility = customer.display_name, customer.civility
    row.language, row.declared_type = customer.language, customer.declared_type
    row.email, row.phone_number = customer.email, customer.phone_number
    row.email_bounced = customer.email_bounced
    row.email_optin, row.sms_optin = customer.email_optin, customer.sms_optin
    row.feedback_count, row.purchase_count = customer.feedback_count, customer.purchase_count
    row.rating_sum, row.rating_count = customer.rating_sum, customer.rating_count
    row.data_sources = {source.value for source in customer.data_sources}
    row.tag_ids = [*customer.tag_ids]
    row.attributes = [value.model_dump(mode="json") for value in customer.attributes]
    metadata = {**customer.metadata}
    row.import_metadata = metadata.pop(IMPORT_METADATA_KEY, None)
    row.source_metadata = metadata
    row.attribute_values |= {name: getattr(customer, name) for name in IDENTIFIERS}
    row.email_hash = email_hash(account_id, customer.email)
    row.phone_hash = phone_hash(account_id, customer.phone_number)
    pair = pair_of(customer.email, customer.phone_number)
    row.pair_key = account_key(account_id, pair.digest) if pair else None
    # An empty field gets no attribute. A stored zero stays, because others can add to it meanwhile.
    row.attribute_values = {
        name: value
        for name, value in row.attribute_values.items()
        if value or (name in stored and value == stored[name])
    }


def build_customer(row: CustomerRow) -> Customer:
    """Build a customer from its table row."""
    fields = row.attribute_values
    metadata = fields.get("source_metadata", {})
    if "import_metadata" in fields:
        metadata = {IMPORT_METADATA_KEY: fields["import_metadata"], **metadata}
    sources = in_order(fields.get("data_sources", ()))
    return Customer.model_validate({**fields, "metadata": metadata, "data_sources": sources})
