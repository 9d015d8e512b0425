"""Process the events of SES: suppress recipients after permanent bounces and complaints."""

from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.message_events import MessageEvent, parse_message_event
from chalicelib.domain.solicitation.tokens import MailReference
from chalicelib.log import logger
from chalicelib.queues import MESSAGE_EVENTS
from chalicelib.services.work.worker import Message, MessageOutcome, Worker
from chalicelib.storage.messages import find_message
from chalicelib.storage.stage_values import stage_secret
from chalicelib.storage.suppressions import suppress


def process_message_event(message: Message[MessageEvent]) -> MessageOutcome:
    """Suppress the event's recipients in the account that sent the e-mail.

    The account is that of the message or, if the message id is unknown, that of the signed header
    of the e-mail: the id of an e-mail whose outcome is unknown was never stored, and an event can
    arrive before the outcome of the message is stored.

    If the e-mail is unknown, return the event to the queue. After the last receive, it is deleted:
    the service did not send the e-mail, or the headers are missing. A repeated call has no further
    effect.

    AWS requests: one, and about two for each recipient.

    Raises:
        Unavailable: the database throttles or does not respond.
    """
    event = message.pointer
    fields, reference = WORKER.described(event), _reference(event)
    if reference is None:
        dropped = message.is_last_receive
        logger.info("message event of unknown e-mail", dropped=dropped, **fields)
        return MessageOutcome.RETURNED
    for recipient in event.recipients:
        if contact_hash := email_hash(reference.account_id, recipient):
            suppress(reference.account_id, contact_hash, Channel.EMAIL, event.reason, clock.now())
    logger.info(
        "address suppressed",
        account_id=reference.account_id,
        solicitation_id=reference.solicitation_id,
        **fields,
    )
    return MessageOutcome.DONE


def _reference(event: MessageEvent) -> MailReference | None:
    """Return the solicitation of the event's message, or None if it is unknown."""
    if message := find_message(event.provider_id):
        return MailReference(message.account_id, message.solicitation_id)
    if not event.references:
        return None
    secret = stage_secret()
    parsed = (MailReference.parse(value, secret) for value in event.references)
    return next(filter(None, parsed), None)


WORKER: Final = Worker(
    queue=MESSAGE_EVENTS,
    parse=parse_message_event,
    run=process_message_event,
    log_fields=("provider_id", "reason"),
    is_only_copy=True,
)
