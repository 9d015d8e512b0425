"""Record a purchase from its definition. Recording the same purchase again updates it.

One transaction saves the purchase, its solicitation, the customer if it is new, and the customer's
purchase count. The count is therefore exact, however often the same purchase is received.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from chalicelib.domain import clock
from chalicelib.domain.customers.body import customer_from_body
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import CustomerPair, pair_of
from chalicelib.domain.errors import Conflict, InvalidInput, RecordTooLarge
from chalicelib.domain.idempotency import hash_of_input
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import unknown_reference
from chalicelib.domain.parsing import MAX_PURCHASE_BYTES, parse
from chalicelib.domain.purchases.definition import (
    PurchaseDefinition,
    build_purchase,
    check_rules,
    with_offsets,
)
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import OPTINS, Channel, optins_off
from chalicelib.domain.solicitation.solicitation import Solicitation, new_solicitation
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.metrics import metric_fields
from chalicelib.outbound.queues import send
from chalicelib.queues import PURCHASES, SOLICITATIONS
from chalicelib.services.accounts.directory import account_directory, current_directory
from chalicelib.services.accounts.settings import account_settings, require_not_closed
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.services.work.worker import Message, MessageOutcome, Worker
from chalicelib.storage import erasures, purchases, recordings
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.purchases import Version
from chalicelib.storage.recordings import Known, Recording

_MAX_LOGGED_ERRORS: Final = 10
_MAX_LOGGED_ID: Final = 255


@dataclass(frozen=True)
class PurchaseMessage:
    """The content of a message of the purchases queue: the definition of a purchase."""

    account_id: str
    purchase: dict[str, Any]


@dataclass(frozen=True)
class PurchaseRequest:
    """A parsed purchase, and the data that is derived from it without reading records.

    Attributes:
        pair: the pair of the customer's data; None if there is none.
        new_customer: the customer to create if no customer has the pair.
        optins: the channels whose opt-in the purchase turns on.
        contacts: the keys of the contacts of the addresses, by channel.
    """

    account_id: str
    definition: PurchaseDefinition
    purchase_id: str
    input_hash: str
    pair: CustomerPair | None
    new_customer: Customer | None
    optins: tuple[Channel, ...]
    contacts: dict[Channel, str]

    @property
    def customer_id(self) -> str | None:
        return self.new_customer.id if self.new_customer else self.definition.customer_id


class _Recorded(NamedTuple):
    purchase: Purchase
    solicitation: Solicitation
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

    def attempt() -> _Recorded:
        nonlocal sent_at
        known, now = load(request)
        # The time of the first attempt: a retry does not make the version newer.
        sent_at = min(sent_at or now, now)
        return _attempt(request, known, sent_at, solicit=solicit)

    recorded = retry_on_contention(attempt)
    if not recorded.is_listed:
        request_positions(account_id)
    if recorded.solicitation.is_open and not recorded.solicitation.held_until:
        send(SOLICITATIONS, [recorded.solicitation.pointer])
    return recorded.purchase


def check_request(account_id: str, definition: PurchaseDefinition) -> PurchaseRequest:
    """Check the rules of a definition that need no customer, and derive the data of its request.

    Raises:
        InvalidInput: the definition violates a rule; see `check_rules`.
    """
    directory = account_directory(account_id)
    if directory.store(definition.store_id) is None:
        # The store may be newer than the cached directory.
        directory = current_directory(account_id)
    # The customer is read later, together with the other records.
    check_rules(definition, directory)
    return _prepare(account_id, definition)


def _prepare(account_id: str, definition: PurchaseDefinition) -> PurchaseRequest:
    record_id = definition.purchase_id(account_id)
    body, pair, customer = definition.customer, None, None
    known: dict[Channel, str] = {}
    if body:
        known = current_keys(account_id, body.email, body.phone_number)
        # Recording the purchase again creates no second customer, unless the update contains
        # another e-mail address or phone number.
        pair = pair_of(body.email, body.phone_number)
        customer_id = derived_id(record_id, "customer", *([pair.digest] if pair else []))
        customer = customer_from_body(
            body, customer_id, clock.now(), data_sources=(definition.source,), purchase_count=1
        )
    return PurchaseRequest(
        account_id,
        definition,
        record_id,
        input_hash_of(definition),
        pair,
        customer,
        tuple(channel for channel in known if body and getattr(body, OPTINS[channel])),
        known,
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


def load(request: PurchaseRequest) -> tuple[Known, datetime]:
    """Load the data that is needed to record a purchase. Return also the current time.

    The order of versions must not depend on the clock of one process.
    """
    customer_id = request.definition.customer_id
    erasure_id = erasures.erasure_id(request.account_id, customer_id) if customer_id else None
    known = recordings.load_known(
        request.account_id,
        request.purchase_id,
        request.customer_id,
        request.pair,
        request.contacts,
        clock.now(),
        erasure_id,
    )
    return known, clock.within(known.second)


def _attempt(
    request: PurchaseRequest, known: Known, sent_at: datetime, *, solicit: bool
) -> _Recorded:
    if known.version and known.solicitation and _is_current(request, known.version, sent_at):
        return _Recorded(known.version.purchase, known.solicitation)
    if known.erased_at and sent_at <= known.erased_at:
        request = _without_person(request)
        return _attempt(request, load(request)[0], sent_at, solicit=solicit)
    require_customer(request, known)
    return _save(request, known, sent_at, solicit=solicit)


def require_customer(request: PurchaseRequest, known: Known) -> None:
    """Check that the account has the customer whose id the definition contains.

    Raises:
        InvalidInput: the account has no such customer.
    """
    if request.definition.customer_id and not known.customer_id:
        raise InvalidInput([unknown_reference("customer", "customerId")])


def _is_current(request: PurchaseRequest, stored: Version, sent_at: datetime) -> bool:
    """Return whether the stored version is the same as this version, or was sent later.

    The queue does not preserve the order of messages. If the partner has sent the stored version
    again, store the time: versions that were sent in between must not replace it.

    Raises:
        Contention: the purchase has changed since it was loaded.
    """
    if sent_at < stored.sent_at:
        return True
    is_same = stored.input_hash == request.input_hash
    if is_same and stored.sent_at != sent_at:
        purchases.set_sent_at(request.account_id, stored, sent_at)
    return is_same


def _without_person(request: PurchaseRequest) -> PurchaseRequest:
    without: dict[str, Any] = {
        "customer_id": None,
        "customer": None,
        "metadata": {},
        "attributes": [],
    }
    definition = request.definition.model_copy(update=without)
    return _prepare(request.account_id, definition)


def _with_new_id(request: PurchaseRequest, known: Known) -> PurchaseRequest:
    """Return the request with another id for a new customer whose addresses were erased before.

    Records of the erased customer can still contain its id until the erasure ends.
    """
    if request.new_customer is None or known.customer_id or known.erased_at is None:
        return request
    new_id = derived_id(request.new_customer.id, format_timestamp(known.erased_at))
    return replace(request, new_customer=request.new_customer.model_copy(update={"id": new_id}))


def _save(request: PurchaseRequest, known: Known, sent_at: datetime, *, solicit: bool) -> _Recorded:
    recording = plan_recording(request, known, sent_at, solicit=solicit)
    is_listed = recordings.save(request.account_id, known, recording)
    purchase = recording.version.purchase
    solicitation = known.solicitation or recording.solicitation
    if solicitation.is_open:
        solicitation = replace(solicitation, customer_id=purchase.customer_id, held_until=None)
    return _Recorded(purchase, solicitation, is_listed)


def plan_recording(
    request: PurchaseRequest, known: Known, sent_at: datetime, *, solicit: bool
) -> Recording:
    """Return what recording the purchase stores. Nothing is written.

    Raises:
        RecordTooLarge: the purchase exceeds its size limit.
    """
    request, now = _with_new_id(request, known), clock.now()
    purchase = _build(request, known, now)
    customer = None
    if request.new_customer and not known.customer_id:
        customer = request.new_customer.model_copy(update=optins_off(known.suppressed))
    return Recording(
        version=Version(purchase, request.input_hash, sent_at),
        solicitation=new_solicitation(request.account_id, purchase, now, is_requested=solicit),
        customer=customer,
        pair_digest=request.pair.digest if request.pair else None,
        # A customer without the pair has other addresses than those of the opt-ins.
        optins=tuple(
            OPTINS[each] for each in request.optins if known.holder and each not in known.suppressed
        ),
    )


def _build(request: PurchaseRequest, known: Known, now: datetime) -> Purchase:
    purchase = build_purchase(
        request.definition,
        request.purchase_id,
        known.customer_id or request.customer_id,
        known.version.purchase if known.version else None,
        now,
    )
    if len(purchase.model_dump_json().encode()) > MAX_PURCHASE_BYTES:
        raise RecordTooLarge("purchase", MAX_PURCHASE_BYTES)
    return purchase


def _record(message: Message[PurchaseMessage]) -> MessageOutcome:
    pointer = message.pointer
    try:
        require_not_closed(pointer.account_id)
        zone = ZoneInfo(account_settings(pointer.account_id).time_zone)
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
    run=_record,
    max_concurrency=5,
    is_only_copy=True,
    rejects_invalid=True,
)
