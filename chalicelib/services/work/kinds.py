"""The kinds of work: their records, and the queues that trigger them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from chalicelib.outbound.feedback_queue import queue_feedback
from chalicelib.outbound.import_queue import queue_chunks
from chalicelib.outbound.webhook_queue import queue_executions
from chalicelib.storage import executions, feedback, imports
from chalicelib.storage.dynamodb.work_records import WorkRecords


@dataclass(frozen=True)
class KindOfWork:
    """One kind of work.

    Attributes:
        queue: queues pointers and returns how many the queue accepted.
    """

    records: WorkRecords[Any]
    queue: Callable[[list[Any]], int]


IMPORTS: Final = KindOfWork(imports.WORK, queue_chunks)
FEEDBACK: Final = KindOfWork(feedback.WORK, queue_feedback)
WEBHOOKS: Final = KindOfWork(executions.WORK, queue_executions)
ALL_WORK: Final = (IMPORTS, FEEDBACK, WEBHOOKS)
