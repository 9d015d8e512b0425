"""Imports: the batch that a partner sends, the chunks of the batch, and the import's progress."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.merge import GroupRow, RowGroup
from chalicelib.domain.parsing import MAX_ROWS
from chalicelib.domain.schema import Input, ItemsDescribedAs, Resource, Timestamp, UuidText
from chalicelib.domain.work import WorkState

MAX_LISTED_ERRORS: Final = 1_000

MAX_CHUNK_ACTIONS: Final = 98
"""Maximum number of customer writes per chunk.

A DynamoDB transaction allows 100 writes. Each import transaction also updates the customer counter
and the chunk record, so 98 writes remain for customers.
"""

MAX_CHUNK_BYTES: Final = 300_000
"""Maximum size of a chunk's rows as JSON.

A chunk record therefore stays below the DynamoDB limit of 400 KB per item. The transaction that
imports a chunk writes the chunk record and up to 98 customers of at most 32 KB each. This
transaction stays below the DynamoDB limit of 4 MB per transaction.
"""


class ImportStatus(StrEnum):
    """Status of an import, as returned by the API."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class BatchBody(Input):
    """A batch of customers. Each row is validated separately."""

    batch: Annotated[list[Any], ItemsDescribedAs(CustomerBody)] = Field(
        min_length=1,
        max_length=MAX_ROWS,
        description="The rows, in the order in which they are processed.",
    )


class RowInputError(Resource):
    """One validation error of a row."""

    pointer: str = Field(description="JSON pointer into the request body.", examples=["/batch/1"])
    code: str = Field(description="Machine-readable error code.", examples=["empty"])
    detail: str = Field(
        description="Human-readable explanation.", examples=["Provide at least one field."]
    )


class RejectedRow(Resource):
    """A row that failed validation and is not imported."""

    index: int = Field(description="Index of the row in the batch, from 0.", examples=[1])
    errors: tuple[RowInputError, ...] = Field(
        description="Validation errors of the row. After 1,000 errors in the batch, only the first"
        " error of each further row is listed, with the pointer of the row."
    )


class AcceptedBatch(Resource):
    """The response to an accepted batch.

    The valid rows of the batch are stored and queued for import.
    """

    id: UuidText
    status: ImportStatus
    row_count: int = Field(description="Number of rows queued for import.", examples=[2])
    rejected: tuple[RejectedRow, ...] = Field(description="Rows that failed validation.")


class RowError(Resource):
    """The error of an accepted row that could not be imported."""

    index: int = Field(description="Index of the row in the batch, from 0.", examples=[2])
    code: str = Field(description="Machine-readable error code.", examples=["record_too_large"])
    detail: str = Field(
        description="Human-readable explanation.", examples=["The customer exceeds 32768 bytes."]
    )


class ImportProgress(Resource):
    """Progress of an import.

    When the import ends, `created`, `filled`, `unchanged` and `failed` add up to `rowCount`.
    """

    id: UuidText
    status: ImportStatus = Field(examples=["COMPLETED"])
    row_count: int = Field(description="Number of rows queued for import.", examples=[1])
    created: int = Field(description="Number of rows that created a customer.", examples=[1])
    filled: int = Field(
        description="Number of rows that filled null fields of a customer.", examples=[1]
    )
    unchanged: int = Field(description="Number of rows that changed nothing.", examples=[0])
    failed: int = Field(description="Number of rows that failed.", examples=[1])
    errors: tuple[RowError, ...] = Field(
        description="Errors of failed rows, at most the first 1,000."
    )
    created_at: Timestamp
    updated_at: Timestamp
    completed_at: Timestamp | None = Field(description="Time when the import ended; null before.")


@dataclass(frozen=True)
class ChunkProgress:
    """Progress of one chunk.

    Attributes:
        ended_at: time when the chunk was imported or parked; None before.
    """

    state: WorkState
    created: int = 0
    filled: int = 0
    unchanged: int = 0
    failed: int = 0
    errors: tuple[RowError, ...] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True)
class ChunkPointer:
    """The content of the queue message that triggers the import of a chunk.

    Attributes:
        pairs: digests of the pairs of e-mail and phone number in the chunk. Because the message
            contains the digests, one database request can read both the chunk and the records of
            the pairs.
        queued_at: time of queueing in epoch milliseconds. This time makes the deduplication id
            unique if the same chunk is queued again.
    """

    account_id: str
    import_id: str
    part: str
    pairs: tuple[str, ...]
    queued_at: int


def pack_chunks(groups: Iterable[RowGroup]) -> list[tuple[RowGroup, ...]]:
    """Split the row groups into chunks without changing their order.

    Each chunk is small enough for one DynamoDB transaction and one chunk record.
    """
    chunks: list[tuple[RowGroup, ...]] = []
    chunk: list[RowGroup] = []
    actions = size = 0
    for group in groups:
        # A group writes the customer and, if it has a pair, writes or checks the row of the pair.
        group_actions, group_size = 2 if group.digest else 1, len(groups_to_json([group]))
        if chunk and (
            actions + group_actions > MAX_CHUNK_ACTIONS or size + group_size > MAX_CHUNK_BYTES
        ):
            chunks.append(tuple(chunk))
            chunk, actions, size = [], 0, 0
        chunk.append(group)
        actions, size = actions + group_actions, size + group_size
    return [*chunks, tuple(chunk)] if chunk else chunks


def groups_to_json(groups: Sequence[RowGroup]) -> bytes:
    """Serialize row groups to the JSON that is stored in the chunk record."""
    stored = [
        [
            group.digest,
            [[row.index, row.fields] for row in group.rows],
            *([True] if group.is_erased else []),
        ]
        for group in groups
    ]
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()


def groups_from_json(stored: bytes) -> tuple[RowGroup, ...]:
    """Parse the row groups from the JSON of a chunk record."""
    return tuple(
        RowGroup(digest, tuple(GroupRow(index, fields) for index, fields in rows), bool(is_erased))
        for digest, rows, *is_erased in json.loads(stored)
    )


def progress_of(
    import_id: str, row_count: int, accepted_at: datetime, chunks: Sequence[ChunkProgress]
) -> ImportProgress:
    """Compute the progress of an import from the progress of its chunks."""
    end_times = [chunk.ended_at for chunk in chunks if chunk.ended_at]
    errors = sorted((error for chunk in chunks for error in chunk.errors), key=lambda e: e.index)
    status = status_of(chunks)
    has_ended = status in (ImportStatus.COMPLETED, ImportStatus.FAILED)
    last_change = max(end_times, default=accepted_at)
    return ImportProgress(
        id=import_id,
        status=status,
        row_count=row_count,
        created=sum(chunk.created for chunk in chunks),
        filled=sum(chunk.filled for chunk in chunks),
        unchanged=sum(chunk.unchanged for chunk in chunks),
        failed=sum(chunk.failed for chunk in chunks),
        errors=tuple(errors[:MAX_LISTED_ERRORS]),
        created_at=accepted_at,
        updated_at=last_change,
        completed_at=last_change if has_ended else None,
    )


def status_of(chunks: Sequence[ChunkProgress]) -> ImportStatus:
    """Derive the status of an import from the states of its chunks."""
    states = {chunk.state for chunk in chunks}
    if WorkState.PENDING in states:
        return ImportStatus.QUEUED if len(states) == 1 else ImportStatus.RUNNING
    return ImportStatus.FAILED if WorkState.PARKED in states else ImportStatus.COMPLETED
