"""The queue of webhooks to send. The account is the message group, so that none waits for another.

It is a standard queue: groups there are for fairness (SQS fair queues), not for order.
"""

from collections.abc import Sequence
from typing import Final

from chalicelib.domain.webhooks.execution import ExecutionPointer
from chalicelib.outbound.queues import Message, send

QUEUE: Final = "webhooks"


def queue_executions(pointers: Sequence[ExecutionPointer]) -> int:
    """Queues pointers to executions; answers how many the queue took. Never raises."""
    return send(QUEUE, [_message(pointer) for pointer in pointers])


def _message(pointer: ExecutionPointer) -> Message:
    return Message(
        body=pointer.to_json(),
        group=pointer.account_id,
    )
