"""Process the listing queue: assign list positions to the new customers of an account."""

from collections.abc import Collection, Sequence

from chalice.app import SQSEvent

from chalicelib.domain.customers.listing import ListingPointer
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.queues import LISTING
from chalicelib.services.customers import assign_positions as service
from chalicelib.time_limits import MIN_WORK_S, time_left_s


def assign_positions(event: SQSEvent) -> Response:
    """Assign positions to the new customers of each account in the batch.

    If the batch contains several messages for one account, only the latest is processed, because it
    covers all customers that the earlier messages cover.
    """

    def process(message: Message[ListingPointer]) -> None:
        assigned = service.assign_positions(message.pointer, lambda: time_left_s() >= MIN_WORK_S)
        logger.info("customers listed", account_id=message.pointer.account_id, assigned=assigned)

    return process_batch(event, LISTING, ListingPointer, process, prepare=_covered_messages)


def _covered_messages(messages: Sequence[Message[ListingPointer]]) -> Collection[ListingPointer]:
    """Return the pointers of all messages except the latest message of each account."""
    latest = {message.pointer.account_id: message.pointer for message in messages}
    return [
        message.pointer
        for message in messages
        if message.pointer != latest[message.pointer.account_id]
    ]
