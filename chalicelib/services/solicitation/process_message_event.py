"""Suppress the addresses that bounced permanently or complained."""

from collections.abc import Iterator
from contextlib import suppress

from chalicelib.domain.customers.contact_hash import email_hash
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.mail_domain import domain_of
from chalicelib.domain.solicitation.message_events import MessageEvent
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.storage.contacts import contact_key
from chalicelib.storage.customers import find as find_customer
from chalicelib.storage.messages import SentMessage, find_message


def process_message_event(event: MessageEvent) -> SentMessage | None:
    """Suppress the event's recipients in the account that sent the message.

    Return the message, or None if its id is unknown: the event can arrive before the outcome of
    the message is stored. A repeated call has no further effect.

    AWS requests: one, and about two for each recipient; up to three more for a recipient with an
    international domain.

    Raises:
        Unavailable: the database throttles or does not respond.
    """
    message = find_message(event.message_id)
    if message is None:
        return None
    for recipient in event.recipients:
        for address in (recipient, *_other_spelling(message, recipient)):
            contact_hash = _hash(message, address)
            suppress_contact(message.account_id, contact_hash, Channel.EMAIL, event.reason)
    return message


def _hash(message: SentMessage, address: str) -> str:
    contact_hash = email_hash(message.account_id, address)
    assert contact_hash  # noqa: S101 - events without an address are not parsed
    return contact_hash


def _other_spelling(message: SentMessage, recipient: str) -> list[str]:
    """Return the spelling of the recipient's address to which the message was sent, if it differs.

    SES reports international domains in ASCII. The customer's address can contain the domain in
    Unicode, in composed or decomposed characters.
    """
    if "xn--" not in recipient.lower() or _is_contact(message, recipient):
        return []
    for address in _spellings(message, recipient):
        if _is_contact(message, address):
            return [address]
    return []


def _is_contact(message: SentMessage, address: str) -> bool:
    return contact_key(_hash(message, address)) == message.contact_key


def _spellings(message: SentMessage, recipient: str) -> Iterator[str]:
    """Yield the address with its domain in Unicode, then the customer's spelling of the address."""
    import idna

    local, _, domain = recipient.rpartition("@")
    with suppress(idna.IDNAError):
        yield f"{local}@{idna.decode(domain)}"
    customer = find_customer(message.account_id, message.customer_id)
    if customer and customer.email:
        with suppress(ValueError):
            own = customer.email.rpartition("@")[0].lower(), domain_of(customer.email)
            if own == (local.lower(), domain.lower()):
                yield customer.email
