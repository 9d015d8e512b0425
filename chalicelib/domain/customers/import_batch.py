"""Imports: the batch of a partner, its chunks, and its progress."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from chalicelib.domain import work
from chalicelib.domain.customers.customer import CustomerBody
from chalicelib.domain.customers.merge import GroupRow, RowGroup
from chalicelib.domain.schema import Identifier, Input, ItemsDescribedAs, Resource, Timestamp

MAX_ROWS: Final = 10_000
MAX_LISTED_ERRORS: Final = 1_000

MAX_CHUNK_ACTIONS: Final = 98
"""Writes per chunk. A transaction allows 100; the counter and the chunk's record need two."""

MAX_CHUNK_BYTES: Final = 300_000
"""JSON bytes of a chunk's rows. The record stays under 400 KB. With the customers that it changes,
at most 32 KB each, the transaction stays under 3 MB of the allowed 4 MB.
"""


class ImportStatus(StrEnum):
    """Status of an import."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class ChunkState(StrEnum):
    """State of a chunk."""

    PENDING = work.PENDING
    DONE = "DONE"
    PARKED = work.PARKED


class BatchBody(Input):
    """A batch of customers. Each row is validated on its own."""

    batch: Annotated[list[Any], ItemsDescribedAs(CustomerBody)] = Field(
        min_length=1, max_length=MAX_ROWS, description="The rows, in the order to do them in."
    )


class RowInputError(Resource):
    """One validation error of a row."""

    pointer: str = Field(
        description="Where: a JSON pointer into the request's body.", examples=["/batch/3/email"]
    )
    code: str = Field(description="The broken rule, for programs.", examples=["invalid_email"])
    detail: str = Field(description="Explanation for people.")


class RejectedRow(Resource):
    """A row that was rejected."""

    index: int = Field(description="The row's place in the batch, from 0.")
    errors: tuple[RowInputError, ...] = Field(
        description="What is wrong with it; past 1,000 faults in a batch, the first of each row."
    )


class AcceptedBatch(Resource):
    """An accepted batch. It is stored and will be imported."""

    id: Identifier
    status: ImportStatus
    row_count: int = Field(description="Rows that were queued.")
    rejected: tuple[RejectedRow, ...] = Field(description="Rows that were not queued.")


class RowError(Resource):
    """An accepted row that could not be imported."""

    index: int = Field(description="The row's place in the batch, from 0.")
    code: str = Field(description="Why, for programs.", examples=["too_large"])
    detail: str = Field(description="Why, for people.")


class ImportProgress(Resource):
    """Progress of an import. At the end the four counts add up to `rowCount`."""

    id: Identifier
    status: ImportStatus
    row_count: int = Field(description="Rows that were queued.")
    created: int = Field(description="Rows that made a customer.")
    filled: int = Field(description="Rows that filled in fields of a customer.")
    unchanged: int = Field(description="Rows that had nothing to fill in.")
    failed: int = Field(description="Rows that could not be done.")
    errors: tuple[RowError, ...] = Field(description="Why rows failed, the first 1,000.")
    created_at: Timestamp
    updated_at: Timestamp
    completed_at: Timestamp | None = Field(description="When the last row ended, null before.")


@dataclass(frozen=True)
class ImportHeader:
    """The header of an accepted import.

    Attributes:
        edition: identifies the accepted chunks. Chunks of another edition belong to a request that
            did not finish.
        input_hash: hash of the input, to compare requests with the same idempotency key.
    """

    id: str
    account_id: str
    edition: str
    row_count: int
    chunk_count: int
    input_hash: str | None
    created_at: datetime


@dataclass(frozen=True)
class ChunkProgress:
    """Progress of one chunk.

    Attributes:
        ended_at: when it was imported or parked, otherwise None.
    """

    state: ChunkState
    created: int = 0
    filled: int = 0
    unchanged: int = 0
    failed: int = 0
    errors: tuple[RowError, ...] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True)
class ChunkPointer:
    """The content of a chunk's queue message.

    Attributes:
        pairs: digests of the chunk's pairs, so that one request reads the chunk and the pairs.
        queued_at: epoch milliseconds, so that each message has its own deduplication id.
    """

    account_id: str
    import_id: str
    part: str
    pairs: tuple[str, ...]
    queued_at: int


def pack_chunks(groups: Iterable[RowGroup]) -> list[tuple[RowGroup, ...]]:
    """Split the groups into chunks that fit one transaction and one record, in order."""
    chunks: list[tuple[RowGroup, ...]] = []
    packed: list[RowGroup] = []
    actions = size = 0
    for group in groups:
        # A new customer takes one write, and its pair another.
        own_actions, own_size = 2 if group.pair else 1, len(groups_to_json([group]))
        if packed and (
            actions + own_actions > MAX_CHUNK_ACTIONS or size + own_size > MAX_CHUNK_BYTES
        ):
            chunks.append(tuple(packed))
            packed, actions, size = [], 0, 0
        packed.append(group)
        actions, size = actions + own_actions, size + own_size
    return [*chunks, tuple(packed)] if packed else chunks


def groups_to_json(groups: Sequence[RowGroup]) -> bytes:
    """Serialize the groups for the chunk's record."""
    document = [[group.pair, [[row.index, row.fields] for row in group.rows]] for group in groups]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def groups_from_json(document: bytes) -> tuple[RowGroup, ...]:
    """Parse the groups of a chunk's record."""
    return tuple(
        RowGroup(pair, tuple(GroupRow(index, fields) for index, fields in rows))
        for pair, rows in json.loads(document)
    )


def progress_of(header: ImportHeader, chunks: Sequence[ChunkProgress]) -> ImportProgress:
    """Compute the progress of an import from the progress of its chunks."""
    ended = [chunk.ended_at for chunk in chunks if chunk.ended_at]
    errors = sorted((error for chunk in chunks for error in chunk.errors), key=lambda e: e.index)
    status = status_of(chunks)
    over = status in (ImportStatus.COMPLETED, ImportStatus.FAILED)
    last = max(ended, default=header.created_at)
    return ImportProgress(
        id=header.id,
        status=status,
        row_count=header.row_count,
        created=sum(chunk.created for chunk in chunks),
        filled=sum(chunk.filled for chunk in chunks),
        unchanged=sum(chunk.unchanged for chunk in chunks),
        failed=sum(chunk.failed for chunk in chunks),
        errors=tuple(errors[:MAX_LISTED_ERRORS]),
        created_at=header.created_at,
        updated_at=last,
        completed_at=last if over else None,
    )


def status_of(chunks: Sequence[ChunkProgress]) -> ImportStatus:
    """Return the status of an import with these chunks."""
    states = {chunk.state for chunk in chunks}
    if ChunkState.PENDING in states:
        return ImportStatus.QUEUED if len(states) == 1 else ImportStatus.RUNNING
    return ImportStatus.FAILED if ChunkState.PARKED in states else ImportStatus.COMPLETED
