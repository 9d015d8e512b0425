"""Record a purchase from a definition. Recording the same purchase again updates it.

One transaction saves the purchase, its solicitation, the customer if it is new, and the customer's
purchase count. The count is therefore exact, however often the same purchase is received.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, CustomerBody, customer_from_body
from chalicelib.domain.customers.pair import CustomerPair, pair_of
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.idempotency import hash_of_input
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import unknown_reference
from chalicelib.domain.purchases.purchase import (
    MAX_PURCHASE_BYTES,
    Purchase,
    PurchaseDefinition,
    build_purchase,
    parse_purchase_definition,
    purchase_id,
)
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.solicitation import Solicitation, new_solicitation
from chalicelib.outbound.queues import send
from chalicelib.queues import SOLICITATIONS
from chalicelib.services.accounts.directory import account_directory, current_directory
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.solicitation.contact_keys import lookup_keys
from chalicelib.storage import customers, erasures, purchases, recordings, solicitations
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction
from chalicelib.storage.recordings import Known

_OPTINS: Final = {Channel.EMAIL: "email_optin", Channel.SMS: "sms_optin"}


@dataclass(frozen=True)
class PurchaseMessage:
    """The content of a message of the purchases queue: the definition of a purchase."""

    account_id: str
    purchase: dict[str, Any]


@dataclass(frozen=True)
class _Recording:
    """A parsed purchase, and the data that is derived from it without reading records.

    Attributes:
        new_customer: the customer to create if no customer has the pair.
        optins: the channels whose opt-in the purchase turns on.
        contacts: the keys of the contacts to load, by channel: the contacts of the opt-ins or, if
            ``sent_at`` is known, of all addresses.
        sent_at: the time at which the partner sent the purchase; None if it is unknown.
    """

    account_id: str
    definition: PurchaseDefinition
    purchase_id: str
    input_hash: str
    new_customer: Customer | None
    optins: tuple[Channel, ...]
    contacts: dict[Channel, tuple[str, ...]]
    sent_at: datetime | None

    @property
    def pair(self) -> CustomerPair | None:
        customer = self.new_customer
        return pair_of(customer.email, customer.phone_number) if customer else None

    @property
    def customer_id(self) -> str | None:
        return self.new_customer.id if self.new_customer else self.definition.customer_id


@dataclass(frozen=True)
class _Recorded:
    purchase: Purchase
    solicitation: Solicitation
    is_listed: bool = True


def record_purchase(
    account_id: str, definition: Any, *, solicit: bool = False, sent_at: datetime | None = None
) -> Purchase:
    """Create the purchase, or update the purchase with the same source and external id.

    If the definition contains a customer id, the purchase belongs to that customer. If it contains
    a customer object, the purchase belongs to the oldest customer with the same e-mail and phone,
    or to a new customer. An update makes a new decision about the survey necessary, unless the
    survey was already sent or skipped.

    AWS requests: three with ``solicit``, otherwise two; only one if nothing has changed. One more
    request while the account's counter is contended, or if the store or the customer has changed.

    Args:
        solicit: whether to send a survey. Without it, the solicitation of a new purchase is
            skipped with the reason NOT_REQUESTED.
        sent_at: the time at which the partner sent the purchase. If the stored version was sent
            later, nothing changes. If the customer was erased since then, the purchase is recorded
            without the customer.

    Raises:
        InvalidInput: the definition is invalid.
        InputTooLarge: the purchase exceeds its size limit.
        Unavailable: the database throttles, or contention persists.
    """
    recording = _prepare(account_id, _parse(account_id, definition), sent_at)
    recorded = retry_on_contention(lambda: _attempt(recording, solicit=solicit))
    if not recorded.is_listed:
        request_positions(account_id)
    if recorded.solicitation.is_open and not recorded.solicitation.held_until:
        send(SOLICITATIONS, [recorded.solicitation.pointer])
    return recorded.purchase


def _parse(account_id: str, definition: Any) -> PurchaseDefinition:
    try:
        return parse_purchase_definition(definition, account_directory(account_id), _is_any)
    except InvalidInput:
        # The store may be newer than the cached directory.
        return parse_purchase_definition(definition, current_directory(account_id), _is_any)


def _is_any(_customer_id: str) -> bool:
    # The customer is read later, together with the other records.
    return True


def _prepare(
    account_id: str, definition: PurchaseDefinition, sent_at: datetime | None
) -> _Recording:
    record_id = purchase_id(account_id, definition.source, definition.external_id)
    body = definition.customer
    email = body.email if body and (body.email_optin or sent_at) else None
    phone_number = body.phone_number if body and (body.sms_optin or sent_at) else None
    known = lookup_keys(account_id, email, phone_number)
    return _Recording(
        account_id,
        definition,
        record_id,
        input_hash_of(definition),
        _new_customer(record_id, body, definition.source) if body else None,
        tuple(channel for channel in known if body and getattr(body, _OPTINS[channel])),
        known,
        sent_at,
    )


def input_hash_of(definition: PurchaseDefinition) -> str:
    """Return the hash with which an unchanged purchase is recognized."""
    return hash_of_input(definition.model_dump(mode="json", exclude_none=True))


def _new_customer(record_id: str, body: CustomerBody, source: DataSource) -> Customer:
    """Build the customer of a purchase.

    The id is derived from the purchase and the pair, so recording the purchase again creates no
    second customer, unless the update contains another e-mail address or phone number.
    """
    pair = pair_of(body.email, body.phone_number)
    customer_id = derived_id(record_id, "customer", *([pair.digest] if pair else []))
    return customer_from_body(
        body, customer_id, clock.now(), data_sources=(source,), purchase_count=1
    )


def _attempt(recording: _Recording, *, solicit: bool) -> _Recorded:
    now = clock.now()
    known = recordings.load_known(
        recording.account_id,
        recording.purchase_id,
        recording.customer_id,
        recording.pair,
        recording.contacts,
        now,
        _erasure_id(recording),
    )
    if known.purchase and known.solicitation and _is_current(recording, known):
        return _Recorded(known.purchase, known.solicitation)
    if recording.sent_at and known.erased_at and recording.sent_at <= known.erased_at:
        return _attempt(_without_person(recording), solicit=solicit)
    if recording.definition.customer_id and not known.customer_id:
        raise InvalidInput([unknown_reference("customer", "customerId")])
    return _save(recording, known, now, solicit=solicit)


def _is_current(recording: _Recording, known: Known) -> bool:
    """Return whether the stored version is the same as this version, or was sent later.

    The queue does not preserve the order of messages.
    """
    if recording.sent_at and known.sent_at and recording.sent_at < known.sent_at:
        return True
    return known.input_hash == recording.input_hash


def _erasure_id(recording: _Recording) -> str | None:
    customer_id = recording.definition.customer_id
    if customer_id is None or recording.sent_at is None:
        return None
    return erasures.erasure_id(recording.account_id, customer_id)


def _without_person(recording: _Recording) -> _Recording:
    without: dict[str, Any] = {
        "customer_id": None,
        "customer": None,
        "metadata": {},
        "attributes": [],
    }
    definition = recording.definition.model_copy(update=without)
    return _prepare(recording.account_id, definition, recording.sent_at)


def _save(recording: _Recording, known: Known, now: datetime, *, solicit: bool) -> _Recorded:
    account_id, earlier = recording.account_id, known.purchase
    purchase = _build(recording, known, now)
    new = new_solicitation(account_id, purchase, now, is_requested=solicit)
    solicitation = known.solicitation or new
    is_again = known.solicitation is not None and known.solicitation.is_open

    def save_all(write: Any) -> None:
        purchases.put(write, account_id, purchase, recording.input_hash, earlier, recording.sent_at)
        if known.solicitation is None:
            solicitations.add(write, new)
        elif is_again:
            solicitations.decide_again(write, known.solicitation, purchase.customer_id, now)
        _count(write, recording, known, purchase)
        if recording.sent_at:
            recordings.check_erasures(write, known)

    is_listed = True
    if recording.new_customer and not known.customer_id:
        customer = recording.new_customer.model_copy(
            update={_OPTINS[channel]: False for channel in known.suppressed}
        )
        pair = recording.pair
        is_listed = customers.insert(
            account_id, customer, known.total, pair.digest if pair else None, also=save_all
        )
    else:
        with transaction() as write:
            save_all(write)
    if is_again:
        solicitation = replace(solicitation, customer_id=purchase.customer_id, held_until=None)
    return _Recorded(purchase, solicitation, is_listed)


def _build(recording: _Recording, known: Known, now: datetime) -> Purchase:
    purchase = build_purchase(
        recording.definition,
        recording.account_id,
        known.customer_id or recording.customer_id,
        known.purchase.created_at if known.purchase else now,
        now,
    )
    if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
        raise InputTooLarge("purchase", MAX_PURCHASE_BYTES)
    return purchase


def _count(write: Any, recording: _Recording, known: Known, purchase: Purchase) -> None:
    """Add the purchase to its customer's count, and subtract it from the earlier customer's count.

    A new customer is created with the count 1.
    """
    account_id, now = recording.account_id, purchase.updated_at
    before = known.purchase.customer_id if known.purchase else None
    is_moved = purchase.customer_id != before
    optins = [_OPTINS[channel] for channel in recording.optins if channel not in known.suppressed]
    if known.customer_id and (is_moved or optins):
        customers.count_purchase(
            write, account_id, known.customer_id, int(is_moved), purchase.source, now, optins
        )
    if before and is_moved and customers.find_existing([(account_id, before)]):
        customers.count_purchase(write, account_id, before, -1, purchase.source, now)
