"""Sending messages to the stage's queues. A message is a hurry, never the only copy of anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from chalicelib.aws_calls import USER_AGENT, count_calls_of
from chalicelib.log import logger
from chalicelib.settings import settings

_MESSAGES_A_REQUEST: Final = 10
_ROUNDS: Final = 3


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        group: messages of one group are worked on one after another.
        deduplication_id: a FIFO queue takes the same id once in five minutes; None elsewhere.
    """

    body: str
    group: str
    deduplication_id: str | None = None


def send(queue: str, messages: Sequence[Message]) -> int:
    """Sends messages, ten to a request, and answers how many the queue took.

    What it does not take is tried again, only that, and then left to the sweeper, as is everything
    that remains once the queue is out of reach. Never raises.
    """
    sent = 0
    for start in range(0, len(messages), _MESSAGES_A_REQUEST):
        try:
            sent += _send_some(queue, messages[start : start + _MESSAGES_A_REQUEST])
        except (ClientError, BotoCoreError) as error:
            logger.warning("queue out of reach", queue=queue, error=type(error).__name__)
            break
    if sent < len(messages):
        logger.warning("queueing left to the sweeper", queue=queue, unsent=len(messages) - sent)
    return sent


def forget_client() -> None:
    """Makes the next message open a connection anew, for tests that change the world beneath."""
    _client.cache_clear()
    _url.cache_clear()


def _send_some(queue: str, messages: Sequence[Message]) -> int:
    left = {str(number): message for number, message in enumerate(messages)}
    for _ in range(_ROUNDS):
        answer = _client().send_message_batch(
            QueueUrl=_url(queue),
            Entries=[_entry(number, message) for number, message in left.items()],
        )
        for taken in answer.get("Successful", []):
            left.pop(taken["Id"])
        if not left:
            break
    return len(messages) - len(left)


def _entry(number: str, message: Message) -> dict[str, str]:
    entry = {"Id": number, "MessageBody": message.body, "MessageGroupId": message.group}
    if message.deduplication_id:
        entry["MessageDeduplicationId"] = message.deduplication_id
    return entry


@cache
def _client() -> Any:
    client = get_session().create_client(
        "sqs",
        region_name=settings().region,
        config=Config(
            parameter_validation=False,
            connect_timeout=1.0,
            read_timeout=4.0,
            retries={"mode": "standard", "total_max_attempts": 2},
            user_agent=USER_AGENT,
        ),
    )
    count_calls_of(client)
    return client


@cache
def _url(queue: str) -> str:
    name = settings().resource_name(queue)
    return str(_client().get_queue_url(QueueName=name)["QueueUrl"])
