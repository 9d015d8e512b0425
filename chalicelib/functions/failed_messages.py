"""Keep failed messages in the queue if the event source does not accept partial batch responses.

Without this setting, Lambda deletes all messages of a batch when the function returns. Chalice
creates event sources without the setting, and the deployment changes it in a later step.
"""

from chalice.app import SQSEvent

from chalicelib.functions.partial_batch import Response
from chalicelib.queues import Queue
from chalicelib.services.work.failed_messages import delete_finished, returns_failed_messages
from chalicelib.time_limits import invocation


class MessagesFailed(Exception):
    """Messages of a batch failed, and only an error of the function returns them to the queue."""


def keep_failed_messages(event: SQSEvent, queue: Queue, response: Response) -> None:
    """Return if the event source keeps the failed messages of the response in the queue.

    AWS requests: none if no message failed; one a minute if messages failed.

    Raises:
        MessagesFailed: the event source does not keep them, or its setting cannot be read. The
            other messages of the batch are deleted.
    """
    failed = {failure["itemIdentifier"] for failure in response["batchItemFailures"]}
    if not failed:
        return
    records = event.to_dict()["Records"]
    with invocation(event.context):
        if returns_failed_messages(records[0]["eventSourceARN"]):
            return
        delete_finished(
            queue, [r["receiptHandle"] for r in records if r["messageId"] not in failed]
        )
    raise MessagesFailed(
        f"{len(failed)} of {len(records)} messages failed, and the event source is not known to"
        " accept partial batch responses."
    )
