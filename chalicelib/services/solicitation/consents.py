"""Show partners what the service has learned about the consent of addresses."""

from collections.abc import Iterator, Mapping
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash, phone_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.domain.solicitation.consent import (
    AddressConsent,
    ConsentList,
    ConsentListRequest,
    ConsentMeta,
    ConsentReason,
    CustomerConsent,
    FoundConsent,
    cursor_after,
    reason_of,
)
from chalicelib.domain.solicitation.contact import Contact
from chalicelib.domain.solicitation.decide import Recipient, obstacle
from chalicelib.domain.solicitation.opt_out import OneAddress
from chalicelib.domain.solicitation.phone_number import notations
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.solicitation.contact_keys import current_keys, valid_number
from chalicelib.storage import consents, contacts, customer_consent
from chalicelib.storage.consents import ListedChange

_MAX_READ: Final = 1_000
"""Maximum number of customers with one address that a request reads."""


def list_consents(account_id: str, request: ConsentListRequest) -> ConsentList:
    """Return a page of the customers for whose addresses the service has learned something.

    They are in the order of the last change, in their current state. One AWS request, and one per
    100 customers and addresses. After its end, the list goes back by some minutes, because the
    index is eventually consistent.

    Raises:
        InvalidCursor: the cursor is not from this list.
    """
    start = request.start(clock.now())
    changes, is_end = consents.list_changes(account_id, start, request.limit)
    customers, found = consents.load(account_id, changes)
    items = tuple(
        CustomerConsent(
            customer_id=change.customer_id,
            changed_at=change.at,
            removed=change.customer_id not in customers,
            addresses=tuple(_addresses(account_id, change, customers, found)),
        )
        for change in changes
    )
    last = None if is_end else (changes[-1].at, changes[-1].key)
    cursor = cursor_after(start, last)
    meta = ConsentMeta(item_count=len(items), cursor=cursor, has_more=not is_end)
    return ConsentList(items=items, meta=meta)


def _addresses(
    account_id: str,
    change: ListedChange,
    customers: Mapping[str, Customer],
    found: Mapping[str, Contact],
) -> Iterator[AddressConsent]:
    """Yield what was learned about the addresses that the customer still has."""
    customer = customers.get(change.customer_id)
    if customer is None:
        return
    addresses = {Channel.EMAIL: customer.email, Channel.SMS: customer.phone_number}
    for channel, key in current_keys(account_id, customer.email, customer.phone_number).items():
        if change.learned.get(channel) == key:
            reason, since = reason_of(found[key], channel)
            address = addresses[channel] or ""
            yield AddressConsent(channel=channel, address=address, reason=reason, since=since)


def find_consent(account_id: str, wanted: OneAddress) -> FoundConsent:
    """Return whether the service may send messages to an address, by the rules of dispatch.

    Two AWS requests; one more for each further notation of a phone number.
    """
    channel, settings = wanted.channel, account_settings(account_id)
    key = current_keys(account_id, wanted.email, wanted.phone_number)[channel]
    contact = contacts.find_many([key])[key]
    hashes = {email_hash(account_id, wanted.email)}
    if wanted.phone_number:
        numbers = notations(wanted.phone_number, settings.default_region)
        hashes = {phone_hash(account_id, number) for number in numbers}
    has_optin = customer_consent.has_optin(channel, filter(None, hashes), _MAX_READ)
    now = clock.now()
    customer = Customer(id="", created_at=now, updated_at=now, email=wanted.email)
    recipient = Recipient(
        customer.model_copy(update={OPTINS[channel]: has_optin}),
        record=Contact(""),
        email=contact,
        phone=contact,
        phone_number=valid_number(account_id, wanted.phone_number),
        text_countries=settings.text_countries,
    )
    reason, since = reason_of(contact, channel)
    if not reason and (skip := obstacle(recipient, channel)):
        reason = ConsentReason(skip.value)
    return FoundConsent(channel=channel, can_send=not reason, reason=reason, since=since)
