"""Suppress the addresses that bounced permanently or complained."""

from collections.abc import Iterator

from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.message_events import MessageEvent
from chalicelib.services.solicitation.contact_keys import email_key
from chalicelib.services.solicitation.suppress import suppress_contact
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
            key = email_key(message.account_id, address)
            if key and (key == message.contact_key or address == recipient):
                suppress_contact(message.account_id, key, Channel.EMAIL, event.reason)
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
