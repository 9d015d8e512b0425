"""Create and replace customers, and assign their positions in the account's list."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.errors import NotFound
from chalicelib.domain.solicitation.channel import Channel, optins_off
from chalicelib.domain.solicitation.contact import suppressed_channels
from chalicelib.domain.work import FIRST_DELAY, open_shards, shard_of, shards_of_account
from chalicelib.storage import counters, lists
from chalicelib.storage.contacts import ContactRow, build_contact
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import (
    CustomerPairRow,
    CustomerRow,
    PairHolder,
    attributes_of,
    build_customer,
    pair_row_keys,
)
from chalicelib.storage.dynamodb.table import account_key, read_together
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import CONDITION_FAILED, Contention, Rows, transaction
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
    contact_keys = optin_keys or {}
    erasure_keys = [(ErasureRow, erasure_id)] if erasure_id else []

    def attempt() -> Created:
        counter, existing, *others = read_together(
            (CounterRow, account_id, Listed.CUSTOMERS.value),
            (CustomerRow, account_key(account_id, customer.id)),
            *((ContactRow, key) for key in contact_keys.values()),
            *erasure_keys,
            *pair_row_keys(account_id, pair),
        )
        end = len(contact_keys) + len(erasure_keys)
        if any(others[len(contact_keys) : end]):
            raise NotFound("customer")
        if existing:
            return Created(
                build_customer(existing),
                existing.input_hash,
                bool(existing.position),
                existing.refused_optins or (),
            )
        holders = others[end:]
        first_of_pair = pair.digest if pair and not any(holders) else None
        contacts = (
            (channel, build_contact(key, row))
            for (channel, key), row in zip(contact_keys.items(), others, strict=False)
        )
        refused = optins_off(suppressed_channels(contacts))
        new = customer.model_copy(update=refused)
        total = counters.usable_total(counter, clock.now())
        origin = {"input_hash": input_hash, "refused_optins": set(refused) or None}
        is_listed = insert(account_id, new, total, first_of_pair, origin if input_hash else None)
        return Created(new, input_hash, is_listed, set(refused))

    return retry_on_contention(attempt)


def find_or_create(
    new: Mapping[tuple[str, str], Customer],
) -> tuple[dict[tuple[str, str], PairHolder], set[str]]:
    """Return the oldest customers with these pairs, and the accounts of unlisted customers.

    Add the customers whose pair is unknown, as `create` does, in one transaction for all accounts.
    A repeated call adds no second customer. If all pairs exist, one request is sent, and no account
    is returned. Otherwise two requests; up to four if counters become contended.

    Args:
        new: up to 33 customers to add, by account id and digest of their pair.

    Raises:
        Unavailable: the database throttles, or contention on a customer or a pair persists.
    """

    def attempt() -> tuple[dict[tuple[str, str], PairHolder], set[str]]:
        accounts = list(dict.fromkeys(account_id for account_id, _ in new))
        rows = read_together(
            *((CounterRow, account_id, Listed.CUSTOMERS.value) for account_id in accounts),
            *((CustomerPairRow, account_key(*key)) for key in new),
            *((CustomerRow, account_key(key[0], customer.id)) for key, customer in new.items()),
        )
        known = dict(zip(new, rows[len(accounts) :], strict=False))
        existing = dict(zip(new, rows[len(accounts) + len(new) :], strict=True))
        holders: dict[tuple[str, str], PairHolder] = {}
        for key, customer in new.items():
            if row := known[key]:
                holders[key] = PairHolder(row.customer_id, row.key)
            else:
                row_key = None if existing[key] else account_key(*key)
                holders[key] = PairHolder(customer.id, row_key)
        unknown = [key for key in new if not known[key]]
        unlisted = {key[0] for key in unknown if existing[key] and not existing[key].position}
        added: dict[tuple[str, str | None], Customer]
        added = {key: new[key] for key in unknown if not existing[key]}
        if added:
            now = clock.now()
            totals = {
                account_id: total
                for account_id, counter in zip(accounts, rows, strict=False)
                if (total := counters.usable_total(counter, now)) is not None
            }
            unlisted |= _add_all(added, totals)
        return holders, unlisted

    return retry_on_contention(attempt)


def _add_all(
    added: Mapping[tuple[str, str | None], Customer],
    totals: Mapping[str, int],
    origin: Mapping[str, Any] | None = None,
    also: Callable[[Rows], object] = lambda _: None,
) -> set[str]:
    """Add the customers in one transaction. Return the accounts whose customers have no position.

    If the counters of accounts are contended, the second transaction assigns no positions in these
    accounts, and the third in none.

    Args:
        added: the customers by account id and by the digest to store; see `add`.
        totals: the number of listed customers of each account whose counter is not reserved.
        origin: see `add`.
        also: adds more writes to the transaction. It is called again for each transaction.
    """
    by_account: dict[str, list[tuple[str | None, Customer]]] = {}
    for (account_id, digest), customer in added.items():
        by_account.setdefault(account_id, []).append((digest, customer))
    listed = {account_id: total for account_id, total in totals.items() if account_id in by_account}
    is_first = True
    while True:
        try:
            with transaction() as write:
                for account_id, customers in by_account.items():
                    total = listed.get(account_id)
                    if total is not None:
                        counters.increment_total(
                            write, account_id, Listed.CUSTOMERS, read=total, by=len(customers)
                        )
                    for number, (digest, customer) in enumerate(customers, 1):
                        position = None if total is None else total + number
                        add(write, account_id, customer, position, digest, origin)
                also(write)
        except Contention as contention:
            if not listed or not contention.is_only_on(CounterRow):
                raise
            contended = {failed.key.hash_key for failed in contention.failures}
            listed = {key: listed[key] for key in listed.keys() - contended} if is_first else {}
            is_first = False
        else:
            return by_account.keys() - listed.keys()


def insert(
    account_id: str,
    customer: Customer,
    total: int | None,
    first_of_pair: str | None,
    origin: Mapping[str, Any] | None = None,
    also: Callable[[Rows], object] = lambda _: None,
) -> bool:
    """Add a customer. Return True if it has a position, False if the counter is contended.

    Args:
        total: the number of listed customers; None if a worker has reserved the counter.
        origin: see `add`.
        also: adds more writes to the transaction. It is called again for each transaction.

    Raises:
        Contention: the customer or the pair exists, or another transaction writes one of the rows.
    """
    totals = {} if total is None else {account_id: total}
    return not _add_all({(account_id, first_of_pair): customer}, totals, origin, also)


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
            due_at = datetime.fromtimestamp(row.due_at / 1000, UTC)
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
    waiting = list(keys)
    read = total

    def attempt() -> int:
        nonlocal read
        if not waiting:
            return read
        try:
            with transaction() as write:
                counters.increment_total(
                    write, account_id, Listed.CUSTOMERS, read=read, by=len(waiting)
                )
                for position, key in enumerate(waiting, start=read + 1):
                    listing = lists.at_position(account_id, position)
                    actions = CustomerRow.changes(**listing, work_shard=None, due_at=None)
                    is_waiting = CustomerRow.has(key=key, position=None)
                    write.update(CustomerRow(key), actions, is_waiting)
        except Contention as contention:
            for failed in contention.failures:
                if failed.key.model is not CustomerRow:
                    read = counters.load_total(account_id, Listed.CUSTOMERS, consistent=True)
                elif failed.reason == CONDITION_FAILED:
                    waiting.remove(failed.key.hash_key)
            raise
        return read + len(waiting)

    return retry_on_contention(attempt)


def add(
    write: Rows,
    account_id: str,
    customer: Customer,
    position: int | None,
    first_of_pair: str | None,
    origin: Mapping[str, Any] | None = None,
) -> None:
    """Add a customer in this transaction, with this position in the account's list or without one.

    The transaction fails if a customer with this id or a row for this pair already exists.

    Args:
        first_of_pair: the digest of the customer's pair. None if the customer has no pair or if
            another customer of the account already has the same pair.
        origin: attributes that describe the request with an idempotency key that creates the
            customer.
    """
    attributes = attributes_of(account_id, customer)
    if position:
        listing = lists.at_position(account_id, position)
    else:
        listing = {
            "work_shard": shard_of(account_id, customer.id, "customer"),
            "due_at": _milliseconds(customer.created_at + FIRST_DELAY),
        }
    write.put_new(CustomerRow, {**attributes, **listing, **(origin or {})})
    if first_of_pair:
        key = account_key(account_id, first_of_pair)
        write.put_new(CustomerPairRow, {"key": key, "customer_id": customer.id})


def _milliseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1000)
