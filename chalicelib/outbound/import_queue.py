"""The queue of import chunks: FIFO by account, so that chunks of one account never fight."""

import json
from collections.abc import Sequence
from typing import Final

from chalicelib.domain.customers.import_batch import ChunkPointer
from chalicelib.outbound.queues import Message, send

QUEUE: Final = "imports.fifo"


def queue_chunks(pointers: Sequence[ChunkPointer]) -> int:
    """Queues pointers to chunks; answers how many the queue took. Never raises."""
    return send(QUEUE, [_message(pointer) for pointer in pointers])


def pointer_in(body: str) -> ChunkPointer:
    """The pointer that a message's body holds.

    Raises:
        ValueError, KeyError, TypeError: it holds none.
    """
    document = json.loads(body)
    return ChunkPointer(
        account_id=document["accountId"],
        import_id=document["importId"],
        part=document["part"],
        pairs=tuple(document["pairs"]),
        queued_at=document["queuedAt"],
    )


def _message(pointer: ChunkPointer) -> Message:
    return Message(
        body=json.dumps(
            {
                "accountId": pointer.account_id,
                "importId": pointer.import_id,
                "part": pointer.part,
                "pairs": pointer.pairs,
                "queuedAt": pointer.queued_at,
            }
        ),
        group=pointer.account_id,
        deduplication_id=f"{pointer.import_id}/{pointer.part}/{pointer.queued_at}".replace(
            "#", "-"
        ),
    )
