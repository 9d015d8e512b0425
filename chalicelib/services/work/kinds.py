"""List the kinds of work, each with its work records and its queue."""

from importlib import import_module
from typing import Final, NamedTuple

from chalicelib.messages import Pointer
from chalicelib.queues import ALL_QUEUES, Queue
from chalicelib.storage.dynamodb.work_records import WorkRecords


class KindOfWork(NamedTuple):
    """One kind of work."""

    records: WorkRecords[Pointer]
    queue: Queue


def kind_of_work(queue: Queue) -> KindOfWork:
    """Return the kind of work of a queue's messages, which must have work records."""
    return KindOfWork(import_module(f"chalicelib.storage.{queue.records}").WORK, queue)


ALL_WORK: Final = tuple(kind_of_work(queue) for queue in ALL_QUEUES if queue.records)
