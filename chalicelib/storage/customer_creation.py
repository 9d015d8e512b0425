"""Create and replace customers, and assign their positions in the account's list."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import NotFound
from chalicelib.domain.solicitation.channel import Channel, optins_off
from chalicelib.domain.solicitation.contact import suppressed_channels
from chalicelib.domain.work import FIRST_DELAY, open_shards, shard_of, shards_of_account
from chalicelib.storage import lists
from chalicelib.storage.contacts import ContactRow, build_contact
from chalicelib.storage.counters import CounterRow, Listed, counter_key, take_position, total_of
from chalicelib.storage.customers import (
    CustomerPairRow,
    CustomerRow,
    build_customer,
    customer_key,
    pair_key,
    set_fields,
    share_pair,
)
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.erasures import ErasureRow

MAX_ASSIGNED: Final = 99
"""A transaction contains at most 100 writes. One of them writes the counter."""


class Created(NamedTuple):
    """The result of a create: a new customer, or an existing customer with the same id.

    Attributes:
        input_hash: the hash of the input of the request that created the customer.
        is_listed: whether the customer has a position. If not, a worker must assign one.
        refused_optins: the fields of the opt-ins that this request contained and that are stored
            as off, because the address is suppressed; empty if the request had no idempotency key.
    """

    customer: Customer
    input_hash: str | None
    is_listed: bool
    refused_optins: Collection[str] = ()


def create(
    account_id: str,
    customer: Customer,
    input_hash: str | None = None,
    optin_keys: Mapping[Channel, str] | None = None,
    erasure_id: str | None = None,
) -> Created:
    """Add a customer at the end of the account's list. The opt-in of a suppressed address is off.

    If a customer with this id exists, write nothing and return the existing customer. Two requests.
    If the account's counter is contended, the customer is created without a position; the first
    create that detects this makes three requests.

    Args:
        input_hash: the hash of the request's input; None without an idempotency key.
        optin_keys: the keys of the contacts for which an opt-in of the customer is on, by channel.
        erasure_id: the id of an erasure of this customer; None if the id was never used before.

    Raises:
        NotFound: the customer was erased.
        Unavailable: the database throttles, or contention on the customer or its pair persists.
    """
    pair = pair_of(customer.email, customer.phone_number)
    keys = {channel: Key(ContactRow, each) for channel, each in (optin_keys or {}).items()}
    erasure_keys = [Key(ErasureRow, erasure_id)] if erasure_id else []
    key = customer_key(account_id, customer.id)
    pair_keys = [pair_key(account_id, pair.digest)] if pair else []
    counter = counter_key(account_id, Listed.CUSTOMERS)

    def use_case(rows: Rows) -> Created:
        rows.prefetch(counter, key, *keys.values(), *erasure_keys, *pair_keys)
        if any(rows.peek(each, because="a later erasure finds the row") for each in erasure_keys):
            raise NotFound("customer")
        existing = rows.peek(key, because="the response is the same if the row changes later")
        if existing:
            is_listed, refused = bool(existing.position), existing.refused_optins or ()
            return Created(build_customer(existing), existing.input_hash, is_listed, refused)
        later = "a later suppression turns the opt-in off, and nothing is sent before"
        contacts = (
            (channel, build_contact(each.hash_key, rows.peek(each, because=later)))
            for channel, each in keys.items()
        )
        off = optins_off(suppressed_channels(contacts))
        new = customer.model_copy(update=off)
        position = take_position(rows, account_id, Listed.CUSTOMERS, clock.now())
        row = add(rows, account_id, new, position)
        if input_hash:
            row.input_hash, row.refused_optins = input_hash, set(off) or None
        return Created(new, input_hash, position is not None, set(off))

    return commit(use_case)


def find_unlisted(account_id: str) -> list[str]:
    """Return the keys of the account's customers without a position, in creation order.

    The index is eventually consistent: it can contain customers that have a position or were
    erased. One request per shard, and per megabyte of the account's customers in the index.
    """
    entries = [
        (row.due_at, row.key)
        for shard in shards_of_account(account_id)
        for row in CustomerRow.unlisted.query(shard, CustomerRow.account_id == account_id)
    ]
    return [key for _, key in sorted(entries)]


def find_accounts_with_overdue(now: datetime) -> Iterator[tuple[str, datetime]]:
    """Yield the account and the creation time of customers that lack a position two minutes later.

    An account can occur several times.
    """
    for shard in open_shards():
        for row in CustomerRow.due.query(shard, CustomerRow.due_at <= _milliseconds(now)):
            due_at = datetime.fromtimestamp((row.due_at or 0) / 1000, UTC)
            yield row.key.partition("#")[0], due_at - FIRST_DELAY


def assign_positions(account_id: str, keys: Sequence[str], total: int) -> int:
    """Add up to `MAX_ASSIGNED` customers to the end of the account's list. Return the new total.

    Customers that already have a position or do not exist are skipped. One request without
    contention.

    Args:
        keys: the keys of the customers, in list order.
        total: the number of listed customers, as last read. If the number is outdated, it is read
            again.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """
    counter = counter_key(account_id, Listed.CUSTOMERS)

    def use_case(rows: Rows) -> int:
        read = total
        if rows.has_failed(counter):
            rows.prefetch(counter)
            read = total_of(rows.get(counter, CounterRow.total))
        else:
            rows.expect(counter, CounterRow.total, read or None)
        found = [Key(CustomerRow, key) for key in keys]
        waiting = [key for key in found if not rows.has_failed(key)]
        for position, key in enumerate(waiting, start=read + 1):
            rows.require(key)
            rows.expect(key, CustomerRow.position, None)
            lists.move_to(rows, key, account_id, position)
            rows.set(key, CustomerRow.work_shard, None)
            rows.set(key, CustomerRow.due_at, None)
        if waiting:
            rows.set(counter, CounterRow.total, read + len(waiting))
        return read + len(waiting)

    return commit(use_case)


def append(rows: Rows, account_id: str, customer: Customer) -> bool:
    """Add a customer to the end of the account's list in this unit of work; see `add`.

    Return False if the customer has no position, because the counter is contended.
    """
    position = take_position(rows, account_id, Listed.CUSTOMERS, clock.now())
    add(rows, account_id, customer, position)
    return position is not None


def add(rows: Rows, account_id: str, customer: Customer, position: int | None) -> CustomerRow:
    """Add a customer in this unit of work, with this position in the account's list or without one.

    Return its row. The unit must have fetched the row of the customer's pair, which is added if it
    does not exist. The transaction fails if the customer exists.
    """
    row = rows.create(customer_key(account_id, customer.id))
    set_fields(row, account_id, customer)
    if position:
        row.list_at(account_id, position)
    else:
        row.work_shard = shard_of(account_id, customer.id, "customer")
        row.due_at = _milliseconds(customer.created_at + FIRST_DELAY)
    if row.pair_key:
        row_key = Key(CustomerPairRow, row.pair_key)
        if rows.exists(row_key):
            share_pair(rows, row_key)
        else:
            rows.create(row_key).customer_id = customer.id
    return row


def _milliseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1000)
