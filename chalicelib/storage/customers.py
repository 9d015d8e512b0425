"""The tables of customers and customer pairs.

A pair is an e-mail address and a phone number. The row of a pair contains the id of the account's
oldest customer with this pair.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.transactions import TransactWrite

from chalicelib.domain import clock
from chalicelib.domain.customers.contact_hash import email_hash, email_hashes, phone_hash
from chalicelib.domain.customers.counts import CustomerCounts
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair, pair_of
from chalicelib.domain.customers.platforms import IDENTIFIERS, IMPORT_METADATA_KEY, DataSource
from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.work import FIRST_DELAY, open_shards, shard_of, shards_of_account
from chalicelib.storage import counters, lists
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, JsonAttribute
from chalicelib.storage.dynamodb.table import Table, account_key, read_together
from chalicelib.storage.dynamodb.transactions import (
    CONDITION_FAILED,
    Contention,
    put_new,
    retry_on_contention,
    transaction,
    try_write,
)
from chalicelib.storage.dynamodb.work_records import DueIndex
from chalicelib.storage.list_positions import ListPositions

_SOURCE_ORDER: Final = {source.value: index for index, source in enumerate(DataSource)}


_READ_AT_ONCE: Final = 100

MAX_ASSIGNED: Final = 99
"""A transaction contains at most 100 writes. One of them writes the counter."""


class _ByBlock(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_block"
        projection = AllProjection()

    list_block = UnicodeAttribute(hash_key=True)
    position = IntegerAttribute(range_key=True)


class _ByEmail(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_email"
        projection = KeysOnlyProjection()

    email_hash = UnicodeAttribute(hash_key=True)


class _ByPhone(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_phone"
        projection = KeysOnlyProjection()

    phone_hash = UnicodeAttribute(hash_key=True)


class CustomerRow(Table):
    """The table row of a customer.

    An unset field has no attribute, so that an import can set each unset field separately.

    A listed customer has ``position`` and ``list_block``. A customer that still needs a position
    has ``work_shard`` and ``due_at`` instead, the keys of the index `due`. This due time is in
    epoch milliseconds, because it also determines the order in which the customers are listed.

    ``email_hash`` and ``phone_hash`` are the contact hashes of the addresses.
    """

    class Meta:
        name = "customers"

    key = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    position = IntegerAttribute(null=True)
    list_block = UnicodeAttribute(null=True)
    work_shard = UnicodeAttribute(null=True)
    due_at = IntegerAttribute(null=True)
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
    email_hash = UnicodeAttribute(null=True)
    phone_hash = UnicodeAttribute(null=True)
    by_block = _ByBlock()
    by_email = _ByEmail()
    by_phone = _ByPhone()
    due = DueIndex()


class CustomerPairRow(Table):
    """The table row that contains the id of the oldest customer with a pair."""

    class Meta:
        name = "customer-pairs"

    key = UnicodeAttribute(hash_key=True)
    customer_id = UnicodeAttribute()


class Created(NamedTuple):
    """The result of a create: a new customer, or an existing customer with the same id.

    Attributes:
        input_hash: the hash of the input of the request that created the customer.
        is_listed: whether the customer has a position. If not, a worker must assign one.
    """

    customer: Customer
    input_hash: str | None
    is_listed: bool


def find(account_id: str, customer_id: str) -> Customer | None:
    """Load a customer of the account. Return None if it does not exist. One consistent request."""
    try:
        row = CustomerRow.get(account_key(account_id, customer_id), consistent_read=True)
        return build_customer(row)
    except CustomerRow.DoesNotExist:
        return None


def find_by_pair(account_id: str, pair: CustomerPair) -> str | None:
    """Load the id of the account's oldest customer with this pair. One consistent request."""
    return next(iter(find_holders(account_id, pair.digests).values()), None)


def find_holders(account_id: str, digests: Sequence[str]) -> dict[str, str]:
    """Load the ids of the oldest customers with a pair, by digest. One consistent request.

    Args:
        digests: the digests of the pair, see `CustomerPair.digests`.
    """
    rows = read_together(*pair_row_keys(account_id, digests))
    return {digest: row.customer_id for digest, row in zip(digests, rows, strict=True) if row}


def pair_row_keys(account_id: str, digests: Iterable[str]) -> list[tuple[type[Table], str]]:
    """Return the keys of the rows of pairs, for `read_together`."""
    return [(CustomerPairRow, account_key(account_id, digest)) for digest in digests]


def page(account_id: str, request: PageRequest) -> tuple[list[Customer], int]:
    """Load one page of customers in creation order, and the total number of customers.

    Two requests, independent of the page number; one more if the page spans two blocks.
    """
    total = counters.load_total(account_id, Listed.CUSTOMERS)
    rows = lists.load_page(CustomerRow, account_id, request, total)
    return [build_customer(row) for row in rows], total


def find_many(account_id: str, customer_ids: Collection[str]) -> dict[str, Customer]:
    """Load up to 100 customers by id. Omit customers that do not exist. One consistent request."""
    rows = read_together(
        *((CustomerRow, account_key(account_id, customer_id)) for customer_id in customer_ids)
    )
    return {row.id: build_customer(row) for row in rows if row}


def find_by_email(account_id: str, email: str, at_most: int | None = None) -> list[Customer]:
    """Load the account's customers with this e-mail address, oldest first.

    Two requests; one more per further 100 customers, and one or two for an international domain.
    The index is eventually consistent.

    Args:
        at_most: the maximum number of customers that are read; any of them if there are more.
    """
    return _load_indexed(CustomerRow.by_email, email_hashes(account_id, email), at_most)


def find_by_phone_numbers(
    account_id: str, phone_numbers: Collection[str], at_most: int | None = None
) -> list[Customer]:
    """Load the account's customers with one of these phone numbers, oldest first.

    The same requests as `find_by_email`, and one more for each further number.
    """
    hashes = {phone_hash(account_id, phone_number) for phone_number in phone_numbers}
    return _load_indexed(CustomerRow.by_phone, hashes, at_most)


def _load_indexed(
    index: Any, contact_hashes: Iterable[str | None], at_most: int | None
) -> list[Customer]:
    keys = [
        row.key
        for contact_hash in filter(None, contact_hashes)
        for row in index.query(contact_hash, limit=at_most)
    ][:at_most]
    rows: list[Any] = []
    for start in range(0, len(keys), _READ_AT_ONCE):
        rows += read_together(*((CustomerRow, key) for key in keys[start : start + _READ_AT_ONCE]))
    found = [build_customer(row) for row in rows if row]
    return sorted(found, key=lambda customer: (customer.created_at, customer.id))


def create(account_id: str, customer: Customer, input_hash: str | None = None) -> Created:
    """Add a customer at the end of the account's list.

    If a customer with this id exists, write nothing and return the existing customer. Two requests.
    If the account's counter is contended, the customer is created without a position; the first
    create that detects this makes three requests.

    Raises:
        Unavailable: the database throttles, or contention on the customer or its pair persists.
    """
    pair = pair_of(customer.email, customer.phone_number)

    def attempt() -> Created:
        counter, existing, known = _read_for_create(account_id, customer.id, pair)
        if existing:
            return Created(build_customer(existing), existing.input_hash, bool(existing.position))
        first_of_pair = pair.digest if pair and not known else None
        total = counters.usable_total(counter, clock.now())
        is_listed = insert(account_id, customer, total, first_of_pair, input_hash)
        return Created(customer, input_hash, is_listed)

    return retry_on_contention(attempt)


def find_or_create(
    new: Mapping[tuple[str, str], Customer],
) -> tuple[dict[tuple[str, str], str], set[str]]:
    """Return the ids of the oldest customers with these pairs, and accounts of unlisted customers.

    Add the customers whose pair is unknown, as `create` does, in one transaction for all accounts.
    A repeated call adds no second customer. If all pairs exist, one request is sent, and no account
    is returned. Otherwise two requests; up to four if counters become contended.

    Args:
        new: up to 33 customers to add, by account id and digest of their pair.

    Raises:
        Unavailable: the database throttles, or contention on a customer or a pair persists.
    """

    # A pair with an international domain may be stored under several digests.
    stored_as = {
        (key[0], digest): key
        for key, customer in new.items()
        for digest in (key[1], *_earlier_digests(customer))
    }

    def attempt() -> tuple[dict[tuple[str, str], str], set[str]]:
        accounts = list(dict.fromkeys(account_id for account_id, _ in new))
        rows = read_together(
            *((CounterRow, account_id, Listed.CUSTOMERS.value) for account_id in accounts),
            *((CustomerPairRow, account_key(*key)) for key in stored_as),
            *((CustomerRow, account_key(key[0], customer.id)) for key, customer in new.items()),
        )
        known: dict[tuple[str, str], Any] = dict.fromkeys(new)
        for key, row in zip(stored_as.values(), rows[len(accounts) :], strict=False):
            known[key] = known[key] or row
        existing = dict(zip(new, rows[len(accounts) + len(stored_as) :], strict=True))
        ids = {
            key: known[key].customer_id if known[key] else customer.id
            for key, customer in new.items()
        }
        unknown = [key for key in new if not known[key]]
        unlisted = {key[0] for key in unknown if existing[key] and not existing[key].position}
        added = {key: new[key] for key in unknown if not existing[key]}
        if added:
            now = clock.now()
            totals = {
                account_id: total
                for account_id, counter in zip(accounts, rows, strict=False)
                if (total := counters.usable_total(counter, now)) is not None
            }
            unlisted |= _add_all(added, totals)
        return ids, unlisted

    return retry_on_contention(attempt)


def _earlier_digests(customer: Customer) -> Sequence[str]:
    pair = pair_of(customer.email, customer.phone_number)
    return pair.digests[1:] if pair else ()


def _add_all(added: Mapping[tuple[str, str], Customer], totals: Mapping[str, int]) -> set[str]:
    """Add the customers in one transaction. Return the accounts whose customers have no position.

    If the counters of accounts are contended, the second transaction assigns no positions in these
    accounts, and the third in none.

    Args:
        totals: the number of listed customers of each account whose counter is not reserved.
    """
    by_account: dict[str, list[tuple[str, Customer]]] = {}
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
                        add(write, account_id, customer, position, digest)
        except Contention as contention:
            if not contention.is_only_on(CounterRow):
                raise
            contended = {sent["Key"]["account_id"]["S"] for sent, _ in contention.failed_writes}
            listed = {key: listed[key] for key in listed.keys() - contended} if is_first else {}
            is_first = False
        else:
            return by_account.keys() - listed.keys()


def _read_for_create(account_id: str, customer_id: str, pair: CustomerPair | None) -> list[Any]:
    """Load the counter, the customer with this id and the row of the pair. One request."""
    keys: list[Any] = [
        (CounterRow, account_id, Listed.CUSTOMERS.value),
        (CustomerRow, account_key(account_id, customer_id)),
    ]
    keys += pair_row_keys(account_id, pair.digests if pair else ())
    counter, existing, *pair_rows = read_together(*keys)
    return [counter, existing, next(filter(None, pair_rows), None)]


def insert(
    account_id: str,
    customer: Customer,
    total: int | None,
    first_of_pair: str | None,
    input_hash: str | None = None,
    also: Callable[[TransactWrite], object] = lambda _: None,
) -> bool:
    """Add a customer. Return True if it has a position, False if the counter is contended.

    Args:
        total: the number of listed customers; None if a worker has reserved the counter.
        also: adds more writes to the transaction. It is called again if the first transaction
            fails.

    Raises:
        Contention: the customer or the pair exists, or another transaction writes one of the rows.
    """

    def write_rows(write: TransactWrite, position: int | None) -> None:
        add(write, account_id, customer, position, first_of_pair, input_hash)
        also(write)

    if total is not None:
        try:
            with transaction() as write:
                counters.increment_total(write, account_id, Listed.CUSTOMERS, read=total)
                write_rows(write, total + 1)
        except Contention as contention:
            if not contention.is_only_on(CounterRow):
                raise
        else:
            return True
    with transaction() as write:
        write_rows(write, None)
    return False


def find_unlisted(account_id: str) -> list[str]:
    """Return the keys of the account's customers without a position, in creation order.

    The index is eventually consistent: it can contain customers that have a position or were
    erased. One request per shard and megabyte.
    """
    prefix = account_key(account_id, "")
    entries = [
        (row.due_at, row.key)
        for shard in shards_of_account(account_id)
        for row in CustomerRow.due.query(shard, filter_condition=CustomerRow.key.startswith(prefix))
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
                    _assign(write, account_id, key, position)
        except Contention as contention:
            for failed, reason in contention.failed_writes:
                if failed["TableName"] != CustomerRow.table_name():
                    read = counters.load_total(account_id, Listed.CUSTOMERS, consistent=True)
                elif reason == CONDITION_FAILED:
                    waiting.remove(failed["Key"]["key"]["S"])
            raise
        return read + len(waiting)

    return retry_on_contention(attempt)


def _assign(write: TransactWrite, account_id: str, key: str, position: int) -> None:
    placed = lists.place(account_id, position)
    write.update(
        CustomerRow(key),
        actions=[
            *(getattr(CustomerRow, name).set(value) for name, value in placed.items()),
            CustomerRow.work_shard.remove(),
            CustomerRow.due_at.remove(),
        ],
        condition=CustomerRow.key.exists() & CustomerRow.position.does_not_exist(),
    )


def replace(account_id: str, customer: Customer, merge: Callable[[Customer], Customer]) -> Created:
    """Merge the customer into the customer with the same id, or add a new customer.

    The counts and the position do not change. If the pair changes, the row of the old pair is
    deleted, even if a newer customer has the same pair.

    Args:
        merge: returns the customer that replaces the stored customer.
    """

    def attempt() -> Created:
        earlier_row = read_together((CustomerRow, account_key(account_id, customer.id)))[0]
        if earlier_row is None:
            return create(account_id, customer)
        earlier = build_customer(earlier_row)
        replacing = merge(earlier)
        merged = replacing.model_copy(
            update={
                "created_at": earlier.created_at,
                "feedback_count": earlier.feedback_count,
                "purchase_count": earlier.purchase_count,
                "rating_sum": earlier.rating_sum,
                "rating_count": earlier.rating_count,
                "data_sources": _in_order({*earlier.data_sources, *replacing.data_sources}),
            }
        )
        old_pair = pair_of(earlier.email, earlier.phone_number)
        new_pair = pair_of(merged.email, merged.phone_number)
        with transaction() as write:
            write.update(
                CustomerRow(account_key(account_id, customer.id)),
                actions=_replacing_actions(account_id, merged),
                condition=(CustomerRow.updated_at == earlier_row.updated_at)
                & _same(CustomerRow.purchase_count, earlier_row.purchase_count)
                & _same(CustomerRow.feedback_count, earlier_row.feedback_count),
            )
            if old_pair != new_pair:
                for digest, holder in _holders(account_id, old_pair).items():
                    if holder == customer.id:
                        write.delete(CustomerPairRow(account_key(account_id, digest)))
                if new_pair and find_by_pair(account_id, new_pair) is None:
                    _save_pair(write, account_id, new_pair.digest, customer.id)
        return Created(merged, earlier_row.input_hash, bool(earlier_row.position))

    return retry_on_contention(attempt)


def _holders(account_id: str, pair: CustomerPair | None) -> dict[str, str]:
    return find_holders(account_id, pair.digests) if pair else {}


def _replacing_actions(account_id: str, customer: Customer) -> list[Action]:
    """Return the update actions that replace all fields of a customer.

    The attributes of unset fields are removed. The customer's place in the list does not change.
    """
    attributes = _attributes(account_id, customer)
    return [
        attribute.set(attributes[name]) if name in attributes else attribute.remove()
        for name, attribute in CustomerRow.get_attributes().items()
        if name not in _NOT_REPLACED
    ]


def change(write: TransactWrite, account_id: str, earlier: Customer, changed: Customer) -> None:
    """Change the fields of a customer that differ, in this transaction.

    The transaction fails if the customer has changed since it was loaded, or no longer exists.
    """
    before, after = _attributes(account_id, earlier), _attributes(account_id, changed)
    write.update(
        CustomerRow(account_key(account_id, changed.id)),
        actions=[
            attribute.set(after[name]) if name in after else attribute.remove()
            for name, attribute in CustomerRow.get_attributes().items()
            if name == "updated_at" or before.get(name) != after.get(name)
        ],
        condition=has_same_addresses(earlier)
        & (CustomerRow.updated_at == format_timestamp(earlier.updated_at)),
    )


def count_purchase(
    write: TransactWrite,
    account_id: str,
    customer_id: str,
    by: int,
    source: DataSource,
    now: datetime,
    optins: Collection[str] = (),
) -> None:
    """Add ``by`` to the purchase count of a customer in this transaction.

    The transaction fails if the customer does not exist.

    Args:
        by: the change of the count. If the change is positive, ``source`` is added to the
            customer's data sources.
        optins: the fields of the opt-ins to turn on, such as ``email_optin``.
    """
    actions: list[Action] = [
        CustomerRow.purchase_count.add(by),
        CustomerRow.updated_at.set(format_timestamp(now)),
        *(getattr(CustomerRow, name).set(True) for name in optins),
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
    *,
    by: int = 1,
) -> None:
    """Add feedback to a customer's counters and data sources in this transaction.

    The transaction fails if the customer does not exist.

    Args:
        ratings: the rating of each feedback record, or None if it has no rating.
        sources: the sources of the feedback records.
        by: 1 to add the feedback, -1 to subtract it. Subtracting keeps the data sources.
    """
    rated = [rating for rating in ratings if rating is not None]
    actions: list[Action] = [
        CustomerRow.feedback_count.add(by * len(ratings)),
        CustomerRow.updated_at.set(format_timestamp(now)),
    ]
    if by > 0:
        actions.append(CustomerRow.data_sources.add({source.value for source in sources}))
    if rated:
        actions += [
            CustomerRow.rating_sum.add(by * sum(rated)),
            CustomerRow.rating_count.add(by * len(rated)),
        ]
    write.update(
        CustomerRow(account_key(account_id, customer_id)),
        actions=actions,
        condition=CustomerRow.key.exists(),
    )


def positions(account_id: str) -> ListPositions:
    """Return the positions of the account's customers."""
    return ListPositions(account_id, Listed.CUSTOMERS, CustomerRow)


def walk(account_id: str) -> Iterator[list[Customer]]:
    """Yield the account's listed customers in groups of up to 100. One request per group."""
    for rows in positions(account_id).walk():
        yield [build_customer(row) for row in rows]


def correct_counts(account_id: str, seen: Customer, counts: CustomerCounts) -> bool:
    """Replace the counts of a customer. Return False if the customer has changed.

    Args:
        seen: the customer as it was loaded.
    """
    corrected = asdict(counts)
    unchanged = CustomerRow.updated_at == format_timestamp(seen.updated_at)
    for name in corrected:
        attribute, value = getattr(CustomerRow, name), getattr(seen, name)
        unchanged &= (attribute == value) if value else _is_zero(attribute)
    row = CustomerRow(account_key(account_id, seen.id))
    actions = [getattr(CustomerRow, name).set(value) for name, value in corrected.items()]
    return try_write(lambda: row.update(actions, condition=unchanged))


def _is_zero(attribute: Any) -> Any:
    return attribute.does_not_exist() | (attribute == 0)


def confirm_recipient(
    write: TransactWrite,
    account_id: str,
    customer: Customer,
    channel: Channel,
    revoked_optins: Collection[Channel],
) -> None:
    """Check in this transaction that a customer still accepts messages at the same addresses.

    The transaction fails if the customer no longer exists, if an address has changed since the
    customer was loaded, or if the customer no longer accepts messages through this channel.

    Args:
        revoked_optins: the channels whose opt-in the transaction turns off.
    """
    accepts = has_same_addresses(customer) & (_OPTINS[channel] == True)  # noqa: E712 - an expression
    if channel is Channel.EMAIL:
        bounced = CustomerRow.email_bounced
        accepts &= bounced.does_not_exist() | (bounced == False)  # noqa: E712 - an expression
    if revoked_optins:
        turn_optins_off(write, account_id, customer, revoked_optins, accepts)
    else:
        write.condition_check(CustomerRow, account_key(account_id, customer.id), condition=accepts)


def turn_optins_off(
    write: TransactWrite,
    account_id: str,
    customer: Customer,
    channels: Collection[Channel],
    condition: Condition | None = None,
) -> None:
    """Turn opt-ins of a customer off in this transaction.

    The transaction fails if the condition is false. By default, the condition is that the customer
    exists and that no address has changed since the customer was loaded.
    """
    write.update(
        CustomerRow(account_key(account_id, customer.id)),
        actions=[
            *(_OPTINS[channel].set(False) for channel in channels),
            CustomerRow.updated_at.set(format_timestamp(clock.now())),
        ],
        condition=has_same_addresses(customer) if condition is None else condition,
    )


def has_same_addresses(customer: Any) -> Condition:
    """Return the condition that the customer exists and has the addresses of this customer."""
    same: Condition = (
        CustomerRow.key.exists()
        & _same(CustomerRow.email, customer.email)
        & _same(CustomerRow.phone_number, customer.phone_number)
    )
    return same


def find_keys_with_contact(channel: Channel, contact_hash: str) -> list[str]:
    """Return the keys of the customers with this e-mail address or phone number.

    One request per MB of index entries. The index is eventually consistent.
    """
    index = CustomerRow.by_email if channel is Channel.EMAIL else CustomerRow.by_phone
    return [row.key for row in index.query(contact_hash)]


def revoke_consent(
    write: TransactWrite, key: str, channel: Channel, contact_hash: str, *, is_bounce: bool
) -> None:
    """Turn a customer's opt-in off in this transaction, or mark the address as bounced.

    The transaction fails if the customer no longer exists or the address has changed.
    """
    is_email = channel is Channel.EMAIL
    hashed = CustomerRow.email_hash if is_email else CustomerRow.phone_hash
    is_marked = is_bounce and is_email
    change = CustomerRow.email_bounced.set(True) if is_marked else _OPTINS[channel].set(False)
    updated = CustomerRow.updated_at.set(format_timestamp(clock.now()))
    write.update(CustomerRow(key), actions=[change, updated], condition=hashed == contact_hash)


def clear_bounce(write: TransactWrite, key: str, contact_hash: str) -> None:
    """Mark a customer's e-mail address as not bounced in this transaction.

    The transaction fails if the customer no longer exists or the address has changed.
    """
    actions: list[Action] = [
        CustomerRow.email_bounced.set(False),
        CustomerRow.updated_at.set(format_timestamp(clock.now())),
    ]
    write.update(CustomerRow(key), actions, CustomerRow.email_hash == contact_hash)


def find_existing(keys: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the keys of the customers that exist. One request.

    Args:
        keys: up to 100 pairs of an account id and a customer id.
    """
    ordered = list(keys)
    rows = read_together(*((CustomerRow, account_key(*key)) for key in ordered))
    return {key for key, row in zip(ordered, rows, strict=True) if row}


def add(
    write: TransactWrite,
    account_id: str,
    customer: Customer,
    position: int | None,
    first_of_pair: str | None,
    input_hash: str | None = None,
) -> None:
    """Add a customer in this transaction, with this position in the account's list or without one.

    The transaction fails if a customer with this id or a row for this pair already exists.

    Args:
        first_of_pair: the digest of the customer's pair. None if the customer has no pair or if
            another customer of the account already has the same pair.
    """
    attributes = _attributes(account_id, customer)
    if position:
        listing = lists.place(account_id, position)
    else:
        listing = {
            "work_shard": shard_of(account_id, customer.id, "customer"),
            "due_at": _milliseconds(customer.created_at + FIRST_DELAY),
        }
    put_new(write, CustomerRow, {**attributes, **listing, "input_hash": input_hash})
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
    for name, contact_hash in _contact_hashes(account_id, fields).items():
        actions.append(getattr(CustomerRow, name).set(contact_hash))
    write.update(CustomerRow(account_key(account_id, customer_id)), actions, condition=unset)


def _contact_hashes(account_id: str, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the index keys of the e-mail address and the phone number among these fields."""
    hashes = {
        "email_hash": email_hash(account_id, fields.get("email")),
        "phone_hash": phone_hash(account_id, fields.get("phone_number")),
    }
    return {name: contact_hash for name, contact_hash in hashes.items() if contact_hash}


def build_row(account_id: str, customer: Customer, position: int) -> CustomerRow:
    """Build the table row of a customer at this position of the account's list."""
    return CustomerRow(**_attributes(account_id, customer), **lists.place(account_id, position))


def _save_pair(write: TransactWrite, account_id: str, digest: str, customer_id: str) -> None:
    write.save(
        CustomerPairRow(account_key(account_id, digest), customer_id=customer_id),
        CustomerPairRow.key.does_not_exist(),
    )


def _milliseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1000)


def _same(attribute: Any, value: Any) -> Any:
    return attribute.does_not_exist() if value is None else attribute == value


def _in_order(sources: Iterable[str]) -> tuple[DataSource, ...]:
    return tuple(DataSource(s) for s in sorted(sources, key=_SOURCE_ORDER.__getitem__))


_OPTINS: Final = {
    Channel.EMAIL: CustomerRow.email_optin,
    Channel.SMS: CustomerRow.sms_optin,
}
_NOT_REPLACED: Final = frozenset(
    {"key", "input_hash", "position", "list_block", "work_shard", "due_at"}
)
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


def _attributes(account_id: str, customer: Customer) -> dict[str, Any]:
    metadata = dict(customer.metadata)
    imported = metadata.pop(IMPORT_METADATA_KEY, None)
    attributes: dict[str, Any] = {
        "key": account_key(account_id, customer.id),
        "account_id": account_id,
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
    attributes |= _contact_hashes(account_id, attributes)
    return {name: value for name, value in attributes.items() if value}


def build_customer(row: CustomerRow) -> Customer:
    fields = row.attribute_values
    metadata = fields.get("source_metadata", {})
    if "import_metadata" in fields:
        metadata = {IMPORT_METADATA_KEY: fields["import_metadata"], **metadata}
    sources = _in_order(fields.get("data_sources", ()))
    return Customer.model_validate({**fields, "metadata": metadata, "data_sources": sources})
