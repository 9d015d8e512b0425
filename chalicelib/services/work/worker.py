"""Declare how a Lambda function processes the messages of its queue, and attempt the work."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.work import Interruption
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import MAX_RECEIVES, Queue
from chalicelib.storage.dynamodb.work_records import WorkRecords
from chalicelib.time_limits import MIN_WORK_S

PointerT = TypeVar("PointerT")


@dataclass(frozen=True)
class Message(Generic[PointerT]):
    """A valid message.

    Attributes:
        pointer: the content of the message.
        receive_count: the number of times that the queue delivered the message.
        sent_at: the time at which the message was sent; None if the event does not contain it.
    """

    pointer: PointerT
    receive_count: int = 1
    sent_at: datetime | None = None

    @property
    def is_redelivery(self) -> bool:
        """Whether an earlier invocation received the message and may have started the work."""
        return self.receive_count > 1

    @property
    def is_last_receive(self) -> bool:
        """Whether the queue moves the message to the dead-letter queue if it fails again."""
        return self.receive_count >= MAX_RECEIVES


class MessageOutcome(StrEnum):
    """The outcome of a message: how the queue continues with it."""

    DONE = "done"
    """The queue deletes the message."""

    RETURNED = "returned"
    """The queue redelivers the message. After the last receive, it deletes the message."""

    FAILED = "failed"
    """The queue redelivers the message. After the last receive, it moves the message to the
    dead-letter queue."""

    REJECTED = "rejected"
    """The message moves to the dead-letter queue immediately."""


class WorkOutcome(StrEnum):
    """The base class of the outcomes of work with a record, in which the message is done.

    Each member has a value, the log event and the names of the metrics that count the outcome. Each
    log line publishes all metrics of the kind. The members include those of `Interruption`, by
    value.
    """

    event: str
    metrics: tuple[str, ...]

    def __new__(cls, value: str, event: str, *metrics: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.event, member.metrics = event, metrics
        return member


@dataclass(frozen=True, kw_only=True)
class Worker(Generic[PointerT]):
    """The declaration of one kind of work. `process_batch` runs it for the messages of a queue.

    Attributes:
        parse: returns the pointer in the body of a message, or None if the message needs no
            processing. Raises ValueError if the body is invalid.
        run: does the work of one message. With records, the result is one of ``outcomes``.
            Otherwise, it is a `MessageOutcome`, and ``run`` writes the log.
        prepare: called before ``run``, with all valid messages of a batch. Returns the pointers of
            the messages that need no further processing.
        records: the work records. The sweeper requeues unfinished ones. None if the work has none.
        key: returns the owner's id and the part of the work record of a pointer.
        outcomes: the outcomes of the work records.
        log_fields: the attributes of the pointer that log lines about a message contain.
        max_concurrency: the maximum number of messages of a batch that are processed concurrently.
            For a FIFO queue, it must be 1, to preserve the order.
        min_time_s: the remaining time that ``run`` needs. If less time is left, the message is
            not processed, and operations do not retry.
        is_only_copy: whether a message is the only copy of its work. Other messages are deleted
            after their last receive if too little time is left or the database is unavailable,
            because the sweeper requeues their work.
        rejects_invalid: whether an invalid message moves to the dead-letter queue immediately.
    """

    queue: Queue
    parse: Callable[[str], PointerT | None]
    run: Callable[[Message[PointerT]], StrEnum]
    prepare: Callable[[Sequence[Message[PointerT]]], Collection[PointerT]] = lambda _: ()
    records: WorkRecords[object] | None = None
    key: Callable[[PointerT], tuple[str, str]] | None = None
    outcomes: type[WorkOutcome] | None = None
    log_fields: tuple[str, ...] = ("account_id",)
    max_concurrency: int = 1
    min_time_s: float = MIN_WORK_S
    is_only_copy: bool = False
    rejects_invalid: bool = False

    def __post_init__(self) -> None:
        """Reject a declaration with some of the facts about records.

        Raises:
            ValueError: of ``records``, ``key`` and ``outcomes``, some are missing.
        """
        if len({fact is None for fact in (self.records, self.key, self.outcomes)}) > 1:
            raise ValueError("Declare records, key and outcomes, or none of them.")

    def described(self, pointer: PointerT) -> dict[str, Any]:
        """Return the log fields that identify the work of a message."""
        return {name: getattr(pointer, name) for name in self.log_fields}


def attempt(worker: Worker[PointerT], message: Message[PointerT]) -> StrEnum:
    """Do the work of a message once. If it raises an exception, reschedule the work record.

    Contention, throttling and too little time defer the record. Each other exception, and a state
    that blocks the work, count as a failure. After the last allowed attempt, the record is parked.
    If an earlier invocation recorded a start and no outcome, this counts as a failure too.

    Raises:
        Unavailable: the record cannot be rescheduled, because the database is unavailable. SQS
            delivers the message again.
        Exception: the work has no record and raised this exception.
    """
    records = worker.records
    if records is None or worker.key is None or worker.outcomes is None:
        return worker.run(message)
    owner_id, part = worker.key(message.pointer)
    try:
        if message.is_redelivery and records.record_start(owner_id, part, clock.now()):
            result: StrEnum = Interruption.PARKED
        else:
            result = worker.run(message)
    except Exception as error:
        fields: dict[str, Any] = {"owner_id": owner_id, "part": part}
        if isinstance(error, Unavailable):
            logger.warning("work interrupted", work=records.kind, reason=str(error), **fields)
        else:
            logger.exception(
                "work raised an exception",
                **fields,
                **metric_fields("work", records.kind, exceptions=1),
            )
        result = records.interrupt(owner_id, part, error, clock.now())
    outcome = next(each for each in worker.outcomes if each == result)
    metrics = {name: int(name in outcome.metrics) for o in worker.outcomes for name in o.metrics}
    logger.info(
        outcome.event,
        **worker.described(message.pointer),
        outcome=outcome.value,
        **metric_fields("work", records.kind, **metrics),
    )
    return outcome
