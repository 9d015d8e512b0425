"""Suppress the addresses that bounced permanently or complained."""

from chalicelib.domain.customers.contact_hash import email_hashes
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.mail_reference import MailReference
from chalicelib.domain.solicitation.message_events import MessageEvent
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.storage.messages import find_message
from chalicelib.storage.stage_secret import stage_secret


def process_message_event(event: MessageEvent) -> MailReference | None:
    """Suppress the event's recipients in the account that sent the message.

    The account is that of the message or, if the message id is unknown, that of the signed header
    of the e-mail: the id of an e-mail whose outcome is unknown was never stored, and an event can
    arrive before the outcome of the message is stored.

    Return the solicitation of the message, or None if it is unknown. A repeated call has no further
    effect.

    AWS requests: one, and about two for each recipient; two more for a recipient with an
    international domain.

    Raises:
        Unavailable: the database throttles or does not respond.
    """
    reference = _reference(event)
    if reference is None:
        return None
    for recipient in event.recipients:
        # Customers may be stored under another spelling of an international domain.
        for contact_hash in email_hashes(reference.account_id, recipient):
            suppress_contact(reference.account_id, contact_hash, Channel.EMAIL, event.reason)
    return reference


def _reference(event: MessageEvent) -> MailReference | None:
    """Return the solicitation of the event's message, or None if it is unknown."""
    if message := find_message(event.message_id):
        return MailReference(message.account_id, message.solicitation_id)
    if not event.references:
        return None
    secret = stage_secret()
    parsed = (MailReference.parse(value, secret) for value in event.references)
    return next(filter(None, parsed), None)
