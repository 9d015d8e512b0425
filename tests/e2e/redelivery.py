"""Shorten the time after which a queue redelivers the messages of a killed function."""

from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.queues import Queue
from infrastructure.functions import FUNCTIONS
from tests.e2e.cloud import Cloud


@contextmanager
def early_redelivery(cloud: Cloud, queue: Queue) -> Iterator[None]:
    """Make the visibility timeout of a queue one second longer than the time-out of its function.

    Outside the block, the visibility timeout is six times the function's time-out.
    """
    (timeout_s,) = (function.timeout_s for function in FUNCTIONS if function.queue == queue)
    name = "VisibilityTimeout"
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName=cloud.resource_name(queue.name))["QueueUrl"]
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={name: str(timeout_s + 1)})
    try:
        yield
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes=before)
