"""Suppress the addresses that bounced permanently or complained."""

from chalicelib.domain.customers.contact_hash import email_hashes
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.message_events import MessageEvent
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.storage.messages import SentMessage, find_message


def process_message_event(event: MessageEvent) -> SentMessage | None:
    """Suppress the event's recipients in the account that sent the message.

    Return the message, or None if its id is unknown: the event can arrive before the outcome of
    the message is stored. A repeated call has no further effect.

    AWS requests: one, and about two for each recipient; two more for a recipient with an
    international domain.

    Raises:
        Unavailable: the database throttles or does not respond.
    """
    message = find_message(event.message_id)
    if message is None:
        return None
    for recipient in event.recipients:
        # Customers may be stored under another spelling of an international domain.
        for contact_hash in email_hashes(message.account_id, recipient):
            suppress_contact(message.account_id, contact_hash, Channel.EMAIL, event.reason)
    return message
