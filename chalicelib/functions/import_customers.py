"""Process the imports queue: one chunk of an import per message."""

from typing import Final

from chalice.app import SQSEvent

from chalicelib.domain.customers.import_batch import ChunkPointer
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.import_chunk import ChunkOutcome, attempt_chunk

_LOG_EVENTS: Final = {
    ChunkOutcome.DONE: "import chunk done",
    ChunkOutcome.NOTHING_TO_DO: "import chunk skipped",
    ChunkOutcome.DEFERRED: "import chunk deferred",
    ChunkOutcome.FAILED: "import chunk failed",
    ChunkOutcome.PARKED: "import chunk parked",
}


def import_customers(event: SQSEvent) -> Response:
    """Import the chunk that each message points to.

    If a chunk fails, the failure is recorded and the chunk is rescheduled, so that it does not
    block the queue's other messages of the same account. If the database is unavailable, the chunk
    is deferred without recording a failure.
    """
    return process_batch(event, IMPORTS, ChunkPointer, _process)


def _process(message: Message[ChunkPointer]) -> None:
    pointer = message.pointer
    outcome = attempt_chunk(pointer, is_redelivery=message.is_redelivery)
    logger.info(
        _LOG_EVENTS[outcome],
        account_id=pointer.account_id,
        import_id=pointer.import_id,
        part=pointer.part,
        outcome=outcome.value,
        **metric_fields("work", "import", parked=int(outcome is ChunkOutcome.PARKED)),
    )
