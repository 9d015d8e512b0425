"""Working on feedback by hand: queued messages are read and given to the function."""

import json
from collections.abc import Sequence
from typing import Any

import boto3
from chalice.app import SQSEvent

from chalicelib.functions.process_feedback import process_feedback


def queued_messages(account_id: str) -> list[str]:
    """The bodies of the account's messages, which are taken off the queue."""
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="feedback-test-feedback")["QueueUrl"]
    bodies: list[str] = []
    while True:
        messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        if not messages:
            return [body for body in bodies if json.loads(body)["accountId"] == account_id]
        for message in messages:
            bodies.append(message["Body"])
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def deliver(bodies: Sequence[str], receive_count: int = 1) -> list[str]:
    """Gives messages to the function in one event; answers the bodies of those to come again."""
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
    failures = process_feedback(SQSEvent(event, None))["batchItemFailures"]
    return [bodies[int(failure["itemIdentifier"])] for failure in failures]
