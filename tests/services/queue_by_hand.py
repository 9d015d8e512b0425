"""A queue whose messages the test receives and passes to the function.

The function has only the permissions of its policy.
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
    """A queue of the stage and its function."""

    name: str
    function: Callable[[SQSEvent], dict[str, list[dict[str, str]]]]

    def queued_messages(self, account_id: str) -> list[str]:
        """Receive and delete all messages; return the bodies of the account's."""
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
        """Pass messages to the function in one event; return the failed ones."""
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
