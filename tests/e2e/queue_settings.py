"""Change the settings of a queue of the local cloud for the duration of a test."""

from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.queues import Queue
from infrastructure.functions import FUNCTIONS
from tests.e2e.cloud import Cloud

FEW_PROCESSES = 4


@contextmanager
def early_redelivery(cloud: Cloud, queue: Queue) -> Iterator[None]:
    """Make the visibility timeout of a queue one second longer than the time-out of its function.

    The queue then redelivers the messages of a killed function early. Outside the block, the
    visibility timeout is six times the function's time-out.
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


@contextmanager
def few_processes(cloud: Cloud, queue: Queue) -> Iterator[None]:
    """Limit the number of processes that the emulator starts for the function of a queue.

    The emulator starts a process per concurrent batch, and each start takes about a second of CPU
    time.
    """
    functions = cloud.client("lambda")
    (mapping,) = (
        mapping
        for mapping in functions.list_event_source_mappings()["EventSourceMappings"]
        if mapping["EventSourceArn"].endswith(f":{cloud.resource_name(queue.name)}")
    )
    uuid, before = mapping["UUID"], mapping["ScalingConfig"]
    functions.update_event_source_mapping(
        UUID=uuid, ScalingConfig={"MaximumConcurrency": FEW_PROCESSES}
    )
    try:
        yield
    finally:
        functions.update_event_source_mapping(UUID=uuid, ScalingConfig=before)
