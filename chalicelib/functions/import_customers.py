"""The function behind the imports queue: one chunk a message."""

from typing import Any

from chalice.app import SQSEvent

from chalicelib.domain.customers.import_batch import ChunkPointer
from chalicelib.domain.errors import Unavailable
from chalicelib.functions.metrics import metric_fields
from chalicelib.functions.queue_messages import is_redelivery, pointer_of
from chalicelib.log import logger
from chalicelib.services.customers.import_chunk import (
    ChunkOutcome,
    defer,
    import_chunk,
    record_failure,
)


def import_customers(event: SQSEvent) -> dict[str, list[dict[str, str]]]:
    """Does each message's chunk, and answers which messages are to come again.

    A chunk that fails is counted and waits in its record, not on the queue, so that it holds up no
    other; one that the database is too busy for waits there too, and is not counted. Only when
    not even that can be written is its message left, with all later ones, which is what keeps a
    FIFO queue's order.
    """
    records = event.to_dict()["Records"]
    for place, record in enumerate(records):
        if not _is_settled(record):
            left = records[place:]
            return {"batchItemFailures": [{"itemIdentifier": r["messageId"]} for r in left]}
    return {"batchItemFailures": []}


def _is_settled(record: dict[str, Any]) -> bool:
    pointer = pointer_of(record, ChunkPointer.from_json)
    if pointer is None:
        return False
    try:
        outcome = _do(pointer, interrupted=is_redelivery(record))
    except Exception:
        logger.exception("chunk left on the queue", import_id=pointer.import_id)
        return False
    logger.info(
        "chunk",
        account_id=pointer.account_id,
        import_id=pointer.import_id,
        part=pointer.part,
        outcome=outcome.value,
        **metric_fields("import", parked=int(outcome is ChunkOutcome.PARKED)),
    )
    return True


def _do(pointer: ChunkPointer, *, interrupted: bool) -> ChunkOutcome:
    if interrupted and record_failure(pointer, "interrupted") is ChunkOutcome.PARKED:
        return ChunkOutcome.PARKED
    try:
        return import_chunk(pointer)
    except Unavailable:
        return defer(pointer)
    except Exception as error:
        logger.exception("chunk failed", import_id=pointer.import_id)
        return record_failure(pointer, type(error).__name__)
