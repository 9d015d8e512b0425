"""The kinds of work: their records, and the queues that trigger them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from chalicelib import queues
from chalicelib.outbound.queues import send
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


IMPORTS: Final = KindOfWork(imports.WORK, partial(send, queues.IMPORTS))
FEEDBACK: Final = KindOfWork(feedback.WORK, partial(send, queues.FEEDBACK))
WEBHOOKS: Final = KindOfWork(executions.WORK, partial(send, queues.WEBHOOKS))
ALL_WORK: Final = (IMPORTS, FEEDBACK, WEBHOOKS)
