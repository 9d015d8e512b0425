"""Record a purchase from its definition. Recording the same purchase again updates it.

One transaction saves the purchase, its solicitation, the customer if it is new, and the customer's
purchase count. The count is therefore exact, however often the same purchase is received.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.body import customer_from_body
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Conflict, InvalidInput, RecordTooLarge
from chalicelib.domain.idempotency import hash_of_input
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.input_errors import unknown_reference
from chalicelib.domain.parsing import MAX_PURCHASE_BYTES, parse
from chalicelib.domain.purchases.definition import (
    PurchaseDefinition,
    build_purchase,
    check_rules,
    with_offsets,
)
from chalicelib.domain.purchases.purchase import Purchase, purchase_id
from chalicelib.domain.solicitation.channel import OPTINS, Channel, optins_off
from chalicelib.domain.solicitation.solicitation import Solicitation
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.metrics import metric_fields
from chalicelib.outbound.queues import send
from chalicelib.queues import PURCHASES, SOLICITATIONS
from chalicelib.services.accounts.directory import directory_with_store
from chalicelib.services.accounts.settings import settings_of_open_account
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.services.work.worker import Message, MessageOutcome, Worker
from chalicelib.storage import (
    contacts,
    customer_creation,
    customers,
    erasures,
    purchases,
    solicitations,
)
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.counters import Listed, counter_key
from chalicelib.storage.customers import CustomerPairRow, CustomerRow, customer_key, pair_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.erasures import ErasureRow
from chalicelib.storage.purchases import PurchaseRow, build_purchase_from, purchase_key
from chalicelib.storage.solicitations import SolicitationRow, build_solicitation

_MAX_LOGGED_ERRORS: Final = 10
_MAX_LOGGED_ID: Final = 255
_CHECKED_BY_COUNT: Final = "the customer and the pair are checked if the customer is changed"


@dataclass(frozen=True)
class PurchaseMessage:
    """The content of a message of the purchases queue: the definition of a purchase."""

    account_id: str
    purchase: dict[str, Any]


@dataclass(frozen=True)
class PurchaseRequest:
    """A parsed purchase, and the data that is derived from it without reading records.

    Attributes:
        purchase: the key of the row of the purchase.
        customer: the key of the row of the customer in the definition, or of the one to create.
        pair: the key of the row of the pair of the customer's data; None if there is none.
        new_customer: the customer to create if no customer has the pair.
        contacts: the keys of the contacts of the addresses, by channel.
        erasure: the key of the erasure of the customer with the id in the definition.
    """

    account_id: str
    definition: PurchaseDefinition
    purchase_id: str
    purchase: Key[PurchaseRow]
    input_hash: str
    customer: Key[CustomerRow] | None
    pair: Key[CustomerPairRow] | None
    new_customer: Customer | None
    contacts: Mapping[Channel, Key[ContactRow]]
    erasure: Key[ErasureRow] | None


class Recorded(NamedTuple):
    """A recorded purchase.

    Attributes:
        customer: the customer that is created with the purchase.
        optins: the channels whose opt-in the purchase turns on for an existing customer.
        is_listed: whether the new customer has a position in the list.
    """

    purchase: Purchase
    solicitation: Solicitation
    customer: Customer | None = None
    optins: Collection[Channel] = ()
    is_listed: bool = True


def record_purchase(
    account_id: str,
    definition: PurchaseDefinition,
    *,
    solicit: bool = False,
    sent_at: datetime | None = None,
) -> Purchase:
    """Create the purchase, or update the purchase with the same source and external id.

    If the definition contains a customer id, the purchase belongs to that customer. If it contains
    a customer object, the purchase belongs to the oldest customer with the same e-mail and phone,
    or to a new customer. An update makes a new decision about the survey necessary, unless the
    survey was already sent or skipped.

    AWS requests: three with ``solicit``, otherwise two; only one if the stored version was sent
    later, or if this message was already received; one more while the account's counter is
    contended, or if the store or the customer has changed.

    Args:
        solicit: whether to send a survey. Without it, the solicitation of a new purchase is
            skipped with the reason NOT_REQUESTED.
        sent_at: the time at which the partner sent the purchase. By default, the time at which the
            stored version is read. If the stored version was sent later, nothing changes. If the
            customer was erased since then, the purchase is recorded without the customer.

    Raises:
        InvalidInput: the definition violates a rule; see `check_rules`.
        RecordTooLarge: the purchase exceeds its size limit.
        Unavailable: the database throttles, or contention persists.
    """
    request = check_request(account_id, definition)
    recorded = commit(partial(record, request, sent_at, solicit=solicit))
    if not recorded.is_listed:
        request_positions(account_id)
    solicitation = recorded.solicitation
    if solicitation.is_open and not solicitation.held_until:
        send(SOLICITATIONS, [solicitation.pointer])
    return recorded.purchase


def check_request(account_id: str, definition: PurchaseDefinition) -> PurchaseRequest:
    """Check the rules of a definition that need no customer, and derive the data of its request.

    Raises:
        InvalidInput: the definition violates a rule; see `check_rules`.
    """
    # The customer is read later, together with the other records.
    check_rules(definition, directory_with_store(account_id, definition.store_id))
    return _prepare(account_id, definition)


def _prepare(account_id: str, definition: PurchaseDefinition) -> PurchaseRequest:
    record_id = purchase_id(account_id, definition.source, definition.external_id)
    body, customer_id = definition.customer, definition.customer_id
    digest, new_customer, erasure = None, None, None
    contacts: dict[Channel, Key[ContactRow]] = {}
    if customer_id:
        erasure = Key(ErasureRow, erasures.erasure_id(account_id, customer_id))
    if body:
        keys = current_keys(account_id, body.email, body.phone_number)
        contacts = {channel: Key(ContactRow, key) for channel, key in keys.items()}
        pair = pair_of(body.email, body.phone_number)
        digest = pair.digest if pair else None
        # Recording the purchase again creates no second customer, unless the update contains
        # another e-mail address or phone number.
        customer_id = derived_id(record_id, "customer", *([digest] if digest else []))
        new_customer = customer_from_body(
            body, customer_id, clock.now(), data_sources=(definition.source,), purchase_count=1
        )
    return PurchaseRequest(
        account_id,
        definition,
        record_id,
        purchase_key(account_id, record_id),
        input_hash_of(definition),
        customer_key(account_id, customer_id) if customer_id else None,
        pair_key(account_id, digest) if digest else None,
        new_customer,
        contacts,
        erasure,
    )


def input_hash_of(definition: PurchaseDefinition) -> str:
    """Return the hash with which an unchanged purchase is recognized.

    Whether to send a survey, which requests contain too, has no effect.
    """
    fields = set(PurchaseDefinition.model_fields)
    content = definition.model_dump(mode="json", exclude_none=True, include=fields)
    if definition.has_send_at and definition.send_at is None:
        content["sendAt"] = None
    return hash_of_input(content)


def record(
    request: PurchaseRequest, sent_at: datetime | None, rows: Rows, *, solicit: bool
) -> Recorded:
    """Record a purchase in a unit of work, unless the stored version is the same or newer.

    The queue does not preserve the order of messages. If the partner has sent the stored version
    again, store the time: versions that were sent in between must not replace it.
    """
    fetch(rows, request)
    # The order of versions must not depend on the clock of one process. A retry does not make the
    # version newer.
    read_at = clock.within(rows.read_at)
    sent_at = min(sent_at or read_at, read_at)
    stored = rows.get(request.purchase)
    solicitation = rows.peek(
        Key(SolicitationRow, request.purchase_id), because="the transaction checks an open one"
    )
    if stored and solicitation:
        is_same = stored.input_hash == request.input_hash
        if is_same and stored.sent_at < sent_at:
            stored.sent_at = sent_at
        if is_same or sent_at < stored.sent_at:
            return Recorded(build_purchase_from(stored), build_solicitation(solicitation))
    erased_at = _erased_at(rows, request)
    if erased_at and sent_at <= erased_at:
        return record(_without_person(request), sent_at, rows, solicit=solicit)
    return save(rows, request, sent_at, erased_at, solicit=solicit)


def fetch(rows: Rows, request: PurchaseRequest) -> None:
    """Fetch all rows that are needed to record a purchase. One request."""
    keys: list[Key[Any]] = [request.purchase, Key(SolicitationRow, request.purchase_id)]
    if request.customer:
        keys += [request.customer, counter_key(request.account_id, Listed.CUSTOMERS)]
    keys += filter(None, (request.pair, request.erasure, *request.contacts.values()))
    rows.prefetch(*keys)


def _erased_at(rows: Rows, request: PurchaseRequest) -> datetime | None:
    """Return when this customer, or a customer with one of the addresses, was last erased."""
    later = "an erasure that starts later finds the purchase of an existing customer"
    known = [rows.peek(contact, because=later) for contact in request.contacts.values()]
    found = [contact.erased_at for contact in known if contact]
    if request.erasure:
        found.append(rows.value(request.erasure, ErasureRow.erased_at))
    return max(filter(None, found), default=None)


def _without_person(request: PurchaseRequest) -> PurchaseRequest:
    without: dict[str, Any] = {
        "customer_id": None,
        "customer": None,
        "metadata": {},
        "attributes": [],
    }
    definition = request.definition.model_copy(update=without)
    return _prepare(request.account_id, definition)


def save(
    rows: Rows,
    request: PurchaseRequest,
    sent_at: datetime,
    erased_at: datetime | None = None,
    *,
    solicit: bool,
) -> Recorded:
    """Save a version of a purchase, and all changes that it causes, in a unit of work.

    Args:
        erased_at: the time of an earlier erasure of the customer.

    Raises:
        InvalidInput: the definition contains the id of a customer that does not exist.
        RecordTooLarge: the purchase exceeds its size limit.
    """
    account_id, now = request.account_id, clock.now()
    stored = rows.get(request.purchase)
    customer_id, new = _existing_customer(rows, request, stored), None
    if request.new_customer and not customer_id:
        new = _new_customer(rows, request, request.new_customer, erased_at)
    purchase = build_purchase(
        request.definition,
        request.purchase_id,
        new.id if new else customer_id,
        build_purchase_from(stored) if stored else None,
        now,
    )
    if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
        raise RecordTooLarge("purchase", MAX_PURCHASE_BYTES)
    before = stored.customer_id if stored else None
    is_moved, is_listed, optins = purchase.customer_id != before, True, set[Channel]()
    row = purchases.record(rows, account_id, purchase)
    row.input_hash, row.sent_at = request.input_hash, sent_at
    solicitation = solicitations.record(rows, account_id, purchase, is_requested=solicit)
    if new:
        is_listed = customer_creation.append(rows, account_id, new)
    elif customer_id:
        optins = _change_customer(rows, request, customer_id, now, is_moved=is_moved)
    if before and is_moved:
        left = customer_key(account_id, before)
        rows.prefetch(left)
        if rows.exists(left):
            customers.count_purchases(rows, left, -1, now)
    return Recorded(purchase, build_solicitation(solicitation), new, optins, is_listed)


def _existing_customer(
    rows: Rows, request: PurchaseRequest, stored: PurchaseRow | None
) -> str | None:
    """Return the id of the oldest customer with the pair or, without one, of that with the id.

    A version with these addresses may have created a customer that has others now. The purchase
    stays with this customer, but does not return to it.

    Raises:
        InvalidInput: the definition contains the id of a customer that does not exist.
    """
    pair = rows.peek(request.pair, because=_CHECKED_BY_COUNT) if request.pair else None
    if pair:
        return pair.customer_id
    if request.customer and (row := rows.peek(request.customer, because=_CHECKED_BY_COUNT)):
        pair_key = request.pair.hash_key if request.pair else None
        is_stored = stored is not None and stored.customer_id == row.id
        if is_stored or not request.new_customer:
            return row.id
        # The pair may have left the customer, although this is not visible yet.
        if rows.value(request.customer, CustomerRow.pair_key) == pair_key:
            return row.id
    if request.definition.customer_id:
        raise InvalidInput([unknown_reference("customer", "customerId")])
    return None


def _new_customer(
    rows: Rows, request: PurchaseRequest, customer: Customer, erased_at: datetime | None
) -> Customer:
    """Return the customer to create, without the opt-ins of suppressed addresses.

    It has another id if the addresses were erased, because records of the erased customer can still
    contain its id until the erasure ends, or if a customer with other addresses has the id.
    """
    for contact in request.contacts.values():
        rows.value(contact, ContactRow.erased_at)
    changes: dict[str, Any] = optins_off(
        channel
        for channel, contact in request.contacts.items()
        if rows.value(contact, contacts.SUPPRESSED[channel])
    )
    unused = "another process can use the id only for a customer with this pair"
    if erased_at or (request.customer and rows.peek(request.customer, because=unused)):
        changes["id"] = new_id()
    return customer.model_copy(update=changes)


def _change_customer(
    rows: Rows, request: PurchaseRequest, customer_id: str, now: datetime, *, is_moved: bool
) -> set[Channel]:
    """Count the purchase of a customer, and turn on opt-ins. Return the channels of the opt-ins."""
    key, optins = customer_key(request.account_id, customer_id), set[Channel]()
    if request.pair and rows.peek(request.pair, because=_CHECKED_BY_COUNT):
        # A customer without the pair has other addresses than those of the opt-ins.
        optins = {
            channel
            for channel, contact in request.contacts.items()
            if getattr(request.new_customer, OPTINS[channel])
            and not rows.value(contact, contacts.SUPPRESSED[channel])
        }
        if is_moved or optins:
            rows.value(request.pair, CustomerPairRow.customer_id)
    if is_moved:
        customers.count_purchases(rows, key, 1, now, request.definition.source)
    if optins:
        rows.require(key)
        rows.set(key, CustomerRow.updated_at, now)
    for channel in optins:
        rows.set(key, customers.OPTIN_OF[channel], True)
    return optins


def _record_message(message: Message[PurchaseMessage]) -> MessageOutcome:
    pointer = message.pointer
    try:
        zone = ZoneInfo(settings_of_open_account(pointer.account_id).time_zone)
        definition = parse(with_offsets(pointer.purchase, zone), PurchaseDefinition)
        purchase = record_purchase(
            pointer.account_id, definition, solicit=True, sent_at=message.sent_at
        )
    except (Conflict, InvalidInput, RecordTooLarge) as error:
        external_id = pointer.purchase.get("externalId")
        reasons = [str(error)]
        if isinstance(error, InvalidInput):
            reasons = [f"{e.pointer} {e.code}" for e in error.errors[:_MAX_LOGGED_ERRORS]]
        logger.error(
            "purchase rejected",
            account_id=pointer.account_id,
            external_id=external_id[:_MAX_LOGGED_ID] if isinstance(external_id, str) else None,
            errors=reasons,
        )
        return MessageOutcome.REJECTED
    logger.info(
        "purchase recorded",
        account_id=pointer.account_id,
        purchase_id=purchase.id,
        **metric_fields("work", "purchase", recorded=1),
    )
    return MessageOutcome.DONE


WORKER: Final = Worker(
    queue=PURCHASES,
    parse=partial(decode, PurchaseMessage),
    run=_record_message,
    max_concurrency=5,
    is_only_copy=True,
    rejects_invalid=True,
)
