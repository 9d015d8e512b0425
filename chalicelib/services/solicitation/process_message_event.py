"""Process the events of SES: suppress recipients after permanent bounces and complaints."""

from typing import Final

from chalicelib.domain.customers.contact_hash import email_hashes
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.message_events import MessageEvent, parse_message_event
from chalicelib.domain.solicitation.tokens import MailReference
from chalicelib.log import logger
from chalicelib.queues import MESSAGE_EVENTS
from chalicelib.services.solicitation.suppressions import suppress_contact
from chalicelib.services.work.worker import Message, MessageOutcome, Worker
from chalicelib.storage.messages import find_message
from chalicelib.storage.stage_values import stage_secret


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
    if message := find_message(event.provider_id):
        return MailReference(message.account_id, message.solicitation_id)
    if not event.references:
        return None
    secret = stage_secret()
    parsed = (MailReference.parse(value, secret) for value in event.references)
    return next(filter(None, parsed), None)


def _process(message: Message[MessageEvent]) -> MessageOutcome:
    """Process an event. Return it to the queue if its e-mail is unknown.

    After the last receive, it is deleted: the service did not send the e-mail, or the headers are
    missing.
    """
    event = message.pointer
    fields = WORKER.described(event)
    if sent := process_message_event(event):
        logger.info(
            "address suppressed",
            account_id=sent.account_id,
            solicitation_id=sent.solicitation_id,
            **fields,
        )
        return MessageOutcome.DONE
    logger.info(
        "message event of unknown e-mail",
        dropped=message.is_last_receive,
        **fields,
    )
    return MessageOutcome.RETURNED


WORKER: Final = Worker(
    queue=MESSAGE_EVENTS,
    parse=parse_message_event,
    run=_process,
    log_fields=("provider_id", "reason"),
    is_only_copy=True,
)
