"""Suppress the addresses that bounced permanently or complained."""

from collections.abc import Iterator

from chalicelib.domain.customers.contact_hash import email_hash
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.message_events import MessageEvent
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.storage.contacts import contact_key
from chalicelib.storage.messages import SentMessage, find_message


def process_message_event(event: MessageEvent) -> SentMessage | None:
    """Suppress the event's recipients in the account that sent the message.

    Return the message, or None if its id is unknown: the event can arrive before the outcome of
    the message is stored. A repeated call has no further effect.

    AWS requests: one, and about two for each recipient.

    Raises:
        Unavailable: the database throttles or does not respond.
    """
    message = find_message(event.message_id)
    if message is None:
        return None
    for recipient in event.recipients:
        for address in _spellings(recipient):
            contact_hash = email_hash(message.account_id, address)
            assert contact_hash  # noqa: S101 - events without an address are not parsed
            is_contact = contact_key(contact_hash) == message.contact_key
            if is_contact or address == recipient:
                suppress_contact(message.account_id, contact_hash, Channel.EMAIL, event.reason)
    return message


def _spellings(address: str) -> Iterator[str]:
    """Yield the address, and the address with its international domain in Unicode."""
    import idna

    yield address
    local, _, domain = address.rpartition("@")
    if "xn--" in domain.lower():
        try:
            yield f"{local}@{idna.decode(domain)}"
        except idna.IDNAError:
            return
