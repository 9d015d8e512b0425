"""A batch of customers on its way in: what a partner sends, its chunks, and how far it has come."""

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
"""Writes in a chunk's transaction, which takes 100, beside the counter's and the chunk's own."""

MAX_CHUNK_BYTES: Final = 300_000
"""JSON of a chunk's rows: its record may have 400 KB, and with the customers that it touches, each
at most 32 KB, its transaction stays under 3 MB of the 4 MB allowed."""


class ImportStatus(StrEnum):
    """How far an import has come."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class ChunkState(StrEnum):
    """How far a chunk of an import has come."""

    PENDING = work.PENDING
    DONE = "DONE"
    PARKED = work.PARKED


class BatchBody(Input):
    """A batch as a partner sends it; each row is judged on its own."""

    batch: Annotated[list[Any], ItemsDescribedAs(CustomerBody)] = Field(
        min_length=1, max_length=MAX_ROWS, description="The rows, in the order to do them in."
    )


class RowInputError(Resource):
    """One thing that is wrong with a row."""

    pointer: str = Field(
        description="Where: a JSON pointer into the request's body.", examples=["/batch/3/email"]
    )
    code: str = Field(description="Which rule is broken, for programs.", examples=["invalid_email"])
    detail: str = Field(description="What is wrong, for people.")


class RejectedRow(Resource):
    """A row that was not queued."""

    index: int = Field(description="The row's place in the batch, from 0.")
    errors: tuple[RowInputError, ...] = Field(
        description="What is wrong with it; past 1,000 faults in a batch, the first of each row."
    )


class AcceptedBatch(Resource):
    """The answer to a batch: it is kept and will be done."""

    id: Identifier
    status: ImportStatus
    row_count: int = Field(description="Rows that were queued.")
    rejected: tuple[RejectedRow, ...] = Field(description="Rows that were not queued.")


class RowError(Resource):
    """A queued row that could not be done."""

    index: int = Field(description="The row's place in the batch, from 0.")
    code: str = Field(description="Why, for programs.", examples=["too_large"])
    detail: str = Field(description="Why, for people.")


class ImportProgress(Resource):
    """How far an import has come. Once it has ended, the four numbers add up to ``rowCount``."""

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
    """An accepted import.

    Attributes:
        edition: names the chunks that were accepted; chunks of another edition are leftovers of a
            request that did not get as far as this record.
        input_hash: tells the same input under the same idempotency key from another.
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
    """How far one chunk has come.

    Attributes:
        ended_at: when it was done or parked, None before.
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
    """What a message says of a chunk: where it is.

    Attributes:
        pairs: digests of its pairs, so that their customers can be looked up in the same request.
        queued_at: epoch milliseconds; a pointer queued again is another message.
    """

    account_id: str
    import_id: str
    part: str
    pairs: tuple[str, ...]
    queued_at: int

    def to_json(self) -> str:
        """Return the pointer as the body of a queue message."""
        return json.dumps(
            {
                "accountId": self.account_id,
                "importId": self.import_id,
                "part": self.part,
                "pairs": self.pairs,
                "queuedAt": self.queued_at,
            }
        )

    @classmethod
    def from_json(cls, body: str) -> "ChunkPointer":
        """Parse the body of a queue message.

        Raises:
            ValueError, KeyError, TypeError: the body is not a valid pointer.
        """
        document = json.loads(body)
        return cls(
            account_id=document["accountId"],
            import_id=document["importId"],
            part=document["part"],
            pairs=tuple(document["pairs"]),
            queued_at=document["queuedAt"],
        )


def pack_chunks(groups: Iterable[RowGroup]) -> list[tuple[RowGroup, ...]]:
    """The groups in order, as many to a chunk as one transaction and one record can take."""
    chunks: list[tuple[RowGroup, ...]] = []
    packed: list[RowGroup] = []
    actions = size = 0
    for group in groups:
        # A new customer is one write, and its pair another.
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
    """The groups as a chunk's record keeps them."""
    document = [[group.pair, [[row.index, row.fields] for row in group.rows]] for group in groups]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def groups_from_json(document: bytes) -> tuple[RowGroup, ...]:
    """The groups that a chunk's record holds."""
    return tuple(
        RowGroup(pair, tuple(GroupRow(index, fields) for index, fields in rows))
        for pair, rows in json.loads(document)
    )


def progress_of(header: ImportHeader, chunks: Sequence[ChunkProgress]) -> ImportProgress:
    """How far the import has come, from how far its chunks have."""
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
    """Where an import with these chunks stands."""
    states = {chunk.state for chunk in chunks}
    if ChunkState.PENDING in states:
        return ImportStatus.QUEUED if len(states) == 1 else ImportStatus.RUNNING
    return ImportStatus.FAILED if ChunkState.PARKED in states else ImportStatus.COMPLETED
