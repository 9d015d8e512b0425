"""List the kinds of work, each with its work records and its queue."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from chalicelib import queues
from chalicelib.outbound.queues import send
from chalicelib.storage import erasures, executions, feedback, imports, solicitations
from chalicelib.storage.dynamodb.work_records import WorkRecords


@dataclass(frozen=True)
class KindOfWork:
    """One kind of work.

    Attributes:
        records: the work records of this kind.
        queue: a function that sends pointers to the queue of this kind and returns the number of
            accepted messages.
    """

    records: WorkRecords[Any]
    queue: Callable[[list[Any]], int]


IMPORTS: Final = KindOfWork(imports.WORK, partial(send, queues.IMPORTS))
FEEDBACK: Final = KindOfWork(feedback.WORK, partial(send, queues.FEEDBACK))
WEBHOOKS: Final = KindOfWork(executions.WORK, partial(send, queues.WEBHOOKS))
SOLICITATIONS: Final = KindOfWork(solicitations.WORK, partial(send, queues.SOLICITATIONS))
ERASURES: Final = KindOfWork(erasures.WORK, partial(send, queues.ERASURES))
ALL_WORK: Final = (IMPORTS, FEEDBACK, WEBHOOKS, SOLICITATIONS, ERASURES)
