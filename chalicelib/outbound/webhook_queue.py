"""The queue of webhooks to send. The account is the message group, so that none waits for another.

It is a standard queue: groups there are for fairness (SQS fair queues), not for order.
"""

import json
from collections.abc import Sequence
from typing import Final

from chalicelib.domain.webhooks.execution import ExecutionPointer
from chalicelib.outbound.queues import Message, send

QUEUE: Final = "webhooks"


def queue_executions(pointers: Sequence[ExecutionPointer]) -> int:
    """Queues pointers to executions; answers how many the queue took. Never raises."""
    return send(QUEUE, [_message(pointer) for pointer in pointers])


def pointer_in(body: str) -> ExecutionPointer:
    """The pointer that a message's body holds.

    Raises:
        ValueError, KeyError, TypeError: it holds none.
    """
    document = json.loads(body)
    pointer = ExecutionPointer(
        account_id=document["accountId"],
        execution_id=document["executionId"],
        workflow_id=document["workflowId"],
        action_id=document["actionId"],
    )
    if not all(isinstance(part, str) and part for part in vars(pointer).values()):
        raise TypeError("the pointer's parts are texts")
    return pointer


def _message(pointer: ExecutionPointer) -> Message:
    return Message(
        body=json.dumps(
            {
                "accountId": pointer.account_id,
                "executionId": pointer.execution_id,
                "workflowId": pointer.workflow_id,
                "actionId": pointer.action_id,
            }
        ),
        group=pointer.account_id,
    )
