"""The queue of import chunks: FIFO by account, so that chunks of one account never fight."""

from collections.abc import Sequence
from typing import Final

from chalicelib.domain.customers.import_batch import ChunkPointer
from chalicelib.outbound.queues import Message, send

QUEUE: Final = "imports.fifo"


def queue_chunks(pointers: Sequence[ChunkPointer]) -> int:
    """Queues pointers to chunks; answers how many the queue took. Never raises."""
    return send(QUEUE, [_message(pointer) for pointer in pointers])


def _message(pointer: ChunkPointer) -> Message:
    return Message(
        body=pointer.to_json(),
        group=pointer.account_id,
        deduplication_id=f"{pointer.import_id}/{pointer.part}/{pointer.queued_at}".replace(
            "#", "-"
        ),
    )
