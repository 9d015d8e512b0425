"""Run the functions of queues in this process."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import boto3

from chalicelib.queues import Queue
from chalicelib.services.work.partial_batch import process_batch
from chalicelib.services.work.worker import Worker
from chalicelib.settings import settings

_MAX_RECEIVED: Final = 10
"""The maximum number of messages of a `ReceiveMessage` request."""


def invoke(worker: Worker[Any], bodies: Sequence[str]) -> None:
    """Invoke a function with a batch of messages. Fail if the function returns one as failed."""
    attributes = {"ApproximateReceiveCount": "1"}
    records = [
        {"messageId": str(n), "body": body, "attributes": attributes}
        for n, body in enumerate(bodies)
    ]
    response = process_batch(worker, records, None)
    assert not response["batchItemFailures"], response


def received(queue: Queue) -> Iterator[list[str]]:
    """Receive messages until there are none. Yield each batch, and delete it afterwards."""
    sqs: Any = boto3.client("sqs")
    size = min(queue.batch_size, _MAX_RECEIVED)
    url = sqs.get_queue_url(QueueName=settings().resource_name(queue.name))["QueueUrl"]
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=size).get("Messages"):
        yield [message["Body"] for message in messages]
        entries = [
            {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]}
            for number, message in enumerate(messages)
        ]
        sqs.delete_message_batch(QueueUrl=url, Entries=entries)
