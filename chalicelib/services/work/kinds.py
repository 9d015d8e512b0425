"""List the kinds of work, each with its work records and its queue."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

from chalicelib.outbound.queues import send
from chalicelib.queues import ALL_QUEUES, Queue
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


def kind_of_work(queue: Queue) -> KindOfWork:
    """Return the kind of work of a queue's messages, which must have work records."""
    module = import_module(f"chalicelib.storage.{queue.records}")
    return KindOfWork(module.WORK, partial(send, queue))


ALL_WORK: Final = tuple(kind_of_work(queue) for queue in ALL_QUEUES if queue.records)
