"""Send messages to the queues. Messages only trigger work; the records are authoritative."""

import hashlib
from collections.abc import Sequence
from functools import cache, partial
from typing import Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.aws_calls import aws_client
from chalicelib.backoff import Backoff
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.paging import in_groups
from chalicelib.log import logger
from chalicelib.messages import Pointer, encode
from chalicelib.queues import Queue
from chalicelib.settings import settings
from chalicelib.time_limits import has_time_for_call

_MESSAGES_PER_REQUEST: Final = 10
_ROUNDS: Final = 3
_MAX_CONCURRENCY: Final = 4

Item = TypeVar("Item")


def send(queue: Queue, pointers: Sequence[Pointer]) -> int:
    """Send one message per pointer. Return the number of accepted messages.

    AWS errors are logged and not raised. For a standard queue, all requests except the first run
    concurrently.

    The message group is the account: a FIFO queue delivers the messages of an account in order, and
    a standard queue shares its capacity fairly between accounts. A FIFO queue drops a duplicate of
    a message from the last five minutes.

    AWS requests: one per ten messages, plus up to two retries for rejected messages. The function
    stops sending when a request fails or too little time is left. The sweeper requeues the work of
    all messages that were not sent.
    """
    batches = list(in_groups(pointers, _MESSAGES_PER_REQUEST))
    sent = 0
    at_once = 1 if queue.is_fifo else _MAX_CONCURRENCY
    for together in [batches[:1], *in_groups(batches[1:], at_once)]:
        accepted = map_concurrently(partial(_try_send, queue), together, _MAX_CONCURRENCY)
        sent += sum(count or 0 for count in accepted)
        if None in accepted:
            break
    if sent < len(pointers):
        logger.warning("messages not sent", queue=queue.name, unsent=len(pointers) - sent)
    return sent


def send_to_dead_letters(queue: Queue, body: str) -> None:
    """Move an invalid message to the dead-letter queue. An alarm then fires. One AWS request.

    Raises:
        Unavailable: the message was not sent.
    """
    try:
        aws_client("sqs").send_message(QueueUrl=_url(queue.dead_letter_name), MessageBody=body)
    except (ClientError, BotoCoreError) as error:
        raise Unavailable("The dead-letter queue does not accept the message.") from error


def change_visibility(queue: Queue, receipt_handles: Sequence[str], timeout_s: int) -> None:
    """Set the time after which the queue delivers received messages again.

    AWS errors are logged and not raised. One AWS request per ten messages.
    """
    for group in in_groups(receipt_handles, _MESSAGES_PER_REQUEST):
        if not has_time_for_call():
            return
        entries = [
            {"Id": str(number), "ReceiptHandle": handle, "VisibilityTimeout": timeout_s}
            for number, handle in enumerate(group)
        ]
        try:
            aws_client("sqs").change_message_visibility_batch(
                QueueUrl=_url(queue.name), Entries=entries
            )
        except (ClientError, BotoCoreError) as error:
            logger.warning("visibility not changed", queue=queue.name, error=type(error).__name__)


def forget_urls() -> None:
    """Discard the cached queue URLs. Tests use this to replace the AWS endpoint."""
    _url.cache_clear()


def _try_send(queue: Queue, pointers: Sequence[Pointer]) -> int | None:
    """Return the number of accepted messages, or None if the queue is unavailable."""
    try:
        return _send_batch(queue, pointers)
    except (ClientError, BotoCoreError) as error:
        logger.warning("queue unavailable", queue=queue.name, error=type(error).__name__)
        return None


def _send_batch(queue: Queue, pointers: Sequence[Pointer]) -> int:
    unsent = {str(number): _entry(queue, pointer) for number, pointer in enumerate(pointers)}
    backoff = Backoff()
    for _ in range(_ROUNDS):
        if not has_time_for_call():
            break
        response = aws_client("sqs").send_message_batch(
            QueueUrl=_url(queue.name),
            Entries=[{"Id": number, **entry} for number, entry in unsent.items()],
        )
        for accepted in response.get("Successful", []):
            unsent.pop(accepted["Id"])
        if not unsent or not backoff.pause():
            break
    return len(pointers) - len(unsent)


def _entry(queue: Queue, pointer: Pointer) -> dict[str, str]:
    body = encode(pointer)
    entry = {"MessageBody": body, "MessageGroupId": pointer.account_id}
    if queue.is_fifo:
        entry["MessageDeduplicationId"] = hashlib.sha256(body.encode()).hexdigest()
    return entry


@cache
def _url(queue: str) -> str:
    name = settings().resource_name(queue)
    return str(aws_client("sqs").get_queue_url(QueueName=name)["QueueUrl"])
