"""A queue worked off by hand: its messages are read by the test and given to the function.

The function may do what its policy allows, and no more.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import boto3
from chalice.app import SQSEvent

from tests.policies import allowed


@dataclass(frozen=True)
class QueueByHand:
    """A queue of the stage, and the function behind it."""

    name: str
    function: Callable[[SQSEvent], dict[str, list[dict[str, str]]]]

    def queued_messages(self, account_id: str) -> list[str]:
        """The bodies of the account's messages, which are taken off the queue."""
        sqs = boto3.client("sqs")
        url = sqs.get_queue_url(QueueName=f"feedback-test-{self.name}")["QueueUrl"]
        bodies: list[str] = []
        while True:
            messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
            if not messages:
                return [body for body in bodies if json.loads(body)["accountId"] == account_id]
            for message in messages:
                bodies.append(message["Body"])
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def deliver(self, bodies: Sequence[str], receive_count: int = 1) -> list[str]:
        """Gives messages to the function in one event; answers those that are to come again."""
        event: dict[str, Any] = {
            "Records": [
                {
                    "messageId": str(number),
                    "body": body,
                    "receiptHandle": "",
                    "attributes": {"ApproximateReceiveCount": str(receive_count)},
                }
                for number, body in enumerate(bodies)
            ]
        }
        with allowed(self.function.__name__):
            failures = self.function(SQSEvent(event, None))["batchItemFailures"]
        return [bodies[int(failure["itemIdentifier"])] for failure in failures]
