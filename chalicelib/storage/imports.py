"""The table of imports: one header row per import, and one row per chunk. Chunks are work records.

The chunks of an import are written before its header and have the same edition as the header.
Writing the header accepts the import. If an import has no header, or its header has another edition
than a chunk, a failed request left the chunk behind, and the chunk is not imported.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final, Self

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.import_batch import (
    MAX_LISTED_ERRORS,
    ChunkPointer,
    ChunkProgress,
    RowError,
    groups_from_json,
    groups_to_json,
)
from chalicelib.domain.customers.merge import GroupRow, RowGroup
from chalicelib.domain.paging import in_groups
from chalicelib.domain.solicitation.contact import Contact
from chalicelib.domain.work import PARKED_SHARD, PENDING, WorkState, open_shards, shards_of_account
from chalicelib.storage.contacts import ContactRow, build_contact
from chalicelib.storage.counters import Listed, counter_key
from chalicelib.storage.customers import build_customer, customer_key, pair_key
from chalicelib.storage.dynamodb.attributes import (
    CompressedJsonAttribute,
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.conditional_writes import try_write
from chalicelib.storage.dynamodb.indexes import index
from chalicelib.storage.dynamodb.table import Key, fields_of, put_all, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow

_HEADER: Final = "header"
_RETENTION: Final = timedelta(days=90)
_CHUNK_RETENTION: Final = _RETENTION + timedelta(days=1)
"""Time after which chunks expire, longer than that of the header.

DynamoDB deletes expired rows one by one. Because the header expires first, an import with a header
has all its chunks.
"""

_CHUNKS_READ_AT_ONCE: Final = 25
"""Maximum number of chunks in one request: a chunk has up to 400 KB, and a response up to 16 MB."""

_NOT_DONE: Final = "The row could not be imported. It is stored, and an operator can replay it."


class ImportRow(WorkRow[ChunkPointer]):
    """The table row of an import's header or of a chunk.

    The index `unfinished` contains the same chunks as the index `due`, by shard and account, so
    that an account's chunks are found without reading those of others.

    ``edition`` is a random id that the header and its chunks share. Chunks with another edition
    were stored by a request that did not complete. Such chunks are not imported. ``input_hash`` is
    the hash of the batch: requests with the same idempotency key must have the same hash.
    """

    class Meta:
        name = "imports"

    import_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    account_id = UnicodeAttribute()
    edition = UnicodeAttribute()
    created_at = TimestampAttribute()
    row_count = IntegerAttribute()
    expires_at = IntegerAttribute()

    input_hash = optional(UnicodeAttribute)

    rows = CompressedJsonAttribute(null=True)
    created = optional(IntegerAttribute)
    filled = optional(IntegerAttribute)
    unchanged = optional(IntegerAttribute)
    failed = optional(IntegerAttribute)
    errors = optional(JsonAttribute[Sequence[tuple[str, str, Sequence[int]]]])
    revision = optional(IntegerAttribute)
    unfinished = index("work_shard", "account_id")

    def pointer(self, now: datetime) -> ChunkPointer:
        return _pointer(
            self.account_id, self.import_id, self.part, groups_from_json(self.rows), now
        )

    def on_parking(self, parked: Self) -> None:
        indexes = [row.index for group in groups_from_json(self.rows) for row in group.rows]
        errors = [RowError(index=index, code="not_done", detail=_NOT_DONE) for index in indexes]
        parked.failed, parked.errors = self.row_count, _errors_to_json(errors)

    def reopen(self, now: datetime) -> None:
        super().reopen(now)
        self.failed = self.errors = None


_PROGRESS: Final = (
    ImportRow.import_id,
    ImportRow.part,
    ImportRow.state,
    ImportRow.created,
    ImportRow.filled,
    ImportRow.unchanged,
    ImportRow.failed,
    ImportRow.errors,
    ImportRow.ended_at,
)
"""The attributes from which the progress of a chunk is built."""

WORK: Final[WorkRecords[ChunkPointer]] = WorkRecords("import", ImportRow)
"""The work records of import chunks."""


def header_key(import_id: str) -> Key[ImportRow]:
    """Return the key of the row of an import's header."""
    return Key(ImportRow, import_id, _HEADER)


@dataclass(frozen=True)
class LoadedChunk:
    """A chunk, and the account data that a worker needs to import the chunk.

    Attributes:
        row: the table row of the chunk.
        header: the row of the import's header; None if the import is not accepted yet.
        groups: the customer rows to import, grouped by pair.
        holders: the ids of the existing customers, by the digest of the pair in the group of rows.
        last_erased_at: the time of the account's last erasure.
    """

    row: ImportRow
    header: ImportRow | None
    groups: tuple[RowGroup, ...]
    holders: dict[str, str]
    last_erased_at: datetime | None = None

    @property
    def is_leftover(self) -> bool:
        """Whether the import was accepted with another edition. Such a chunk is not imported."""
        return self.header is not None and self.header.edition != self.row.edition


def save_chunks(
    header: ImportRow, chunks: Sequence[Sequence[RowGroup]], now: datetime
) -> list[ChunkPointer]:
    """Save the chunks of an import that is not accepted yet, 25 per request. Return their pointers.

    Set the time of the header, in the second of DynamoDB's last response. An erasure compares this
    time with its own, so the time must not depend on the clock of one process.

    Raises:
        Unavailable: DynamoDB throttles. The chunks already saved will not be processed.
    """
    parts = [
        (f"chunk#{header.edition}#{number:05d}", groups)
        for number, groups in enumerate(chunks, start=1)
    ]
    saved_at = put_all(_chunk(header, part, groups, now) for part, groups in parts)
    header.created_at = clock.within(saved_at) if saved_at else now
    return [
        _pointer(header.account_id, header.import_id, part, groups, now) for part, groups in parts
    ]


def _chunk(header: ImportRow, part: str, groups: Sequence[RowGroup], now: datetime) -> ImportRow:
    row = Key(ImportRow, header.import_id, part).row()
    row.account_id, row.edition, row.created_at = header.account_id, header.edition, now
    row.row_count, row.rows = sum(len(group.rows) for group in groups), groups_to_json(groups)
    row.expires_at = _timestamp(now + _CHUNK_RETENTION)
    row.make_pending(now)
    return row


def accept(header: ImportRow, now: datetime) -> bool:
    """Accept an import by saving its header. Return False if the id already exists.

    The header of an expired import with the same id is replaced.
    """
    header.expires_at = _timestamp(now + _RETENTION)
    is_unused = ImportRow.import_id.does_not_exist() | (ImportRow.expires_at <= _timestamp(now))
    return try_write(lambda: header.save(is_unused))


def find(import_id: str, now: datetime) -> ImportRow | None:
    """Load the header of an accepted import, from any account. One consistent request.

    Return None if the import does not exist or has expired.
    """
    (row,) = read_together(header_key(import_id))
    return row if row and row.expires_at > _timestamp(now) else None


def was_accepted_after(chunk: ImportRow, at: datetime) -> bool:
    """Return whether the import of a chunk was accepted after this time. One consistent request.

    The time is that of the header, which comes from DynamoDB, not from the clock of a process.
    """
    (header,) = read_together(header_key(chunk.import_id))
    return header is not None and header.created_at > at


def load_progress(header: ImportRow) -> list[ChunkProgress]:
    """Load the progress of each chunk of an accepted import."""
    rows = ImportRow.query(
        header.import_id,
        ImportRow.part.startswith(f"chunk#{header.edition}#"),
        consistent_read=True,
        attributes_to_get=[attribute.attr_name for attribute in _PROGRESS],
    )
    return [_progress(row) for row in rows]


def list_unfinished(import_id: str, edition: str, now: datetime) -> list[ChunkPointer]:
    """Return pointers to the import's pending chunks of this edition."""
    rows = ImportRow.query(
        import_id, ImportRow.part.startswith(f"chunk#{edition}#"), consistent_read=True
    )
    return [row.pointer(now) for row in rows if row.state == WorkState.PENDING.value]


def load_chunk(rows: Rows, pointer: ChunkPointer) -> LoadedChunk | None:
    """Load a pending chunk and the account data that is needed to import the chunk.

    One request is enough because the pointer contains the digests of the chunk's pairs; two if the
    chunk has more than 97 of them. Return None if there is no such chunk.

    The unit of work relies on the version of the chunk, and on the customer rows that it changes.
    """
    account_id, key = pointer.account_id, Key(ImportRow, pointer.import_id, pointer.part)
    header = header_key(pointer.import_id)
    counter_row = counter_key(account_id, Listed.CUSTOMERS)
    pairs = {digest: pair_key(account_id, digest) for digest in pointer.pairs}
    rows.prefetch(key, header, counter_row, *pairs.values())
    chunk = rows.get(key)
    if chunk is None or chunk.state != PENDING:
        return None
    counter = rows.peek(counter_row, because="the number of erasures is checked with a creation")
    found = {digest: rows.peek(each, because=_CHECKED) for digest, each in pairs.items()}
    return LoadedChunk(
        row=chunk,
        header=rows.peek(header, because="the header of an import does not change"),
        groups=groups_from_json(chunk.rows) if chunk.rows else (),
        holders={digest: pair.customer_id for digest, pair in found.items() if pair},
        last_erased_at=counter.erased_at if counter else None,
    )


_CHECKED: Final = "customers and pairs are checked if they are changed"


def load_persons(
    rows: Rows, chunk: LoadedChunk, contact_keys: Collection[str]
) -> tuple[dict[str, Customer], dict[str, Contact]]:
    """Load the existing customers of a chunk by id, and contacts by key.

    One request per 100 customers and contacts.
    """
    contacts = {each: Key(ContactRow, each) for each in contact_keys}
    ids = sorted(set(chunk.holders.values()))
    customers = [customer_key(chunk.row.account_id, each) for each in ids]
    rows.prefetch(*contacts.values(), *customers)
    found = (rows.peek(key, because=_CHECKED) for key in customers)
    checked = "confirm_erasures checks them, and nothing is sent to suppressed addresses"
    return {row.id: build_customer(row) for row in found if row}, {
        each: build_contact(each, rows.peek(key, because=checked)) for each, key in contacts.items()
    }


def finish_chunk(rows: Rows, chunk: ImportRow, errors: Sequence[RowError], now: datetime) -> None:
    """Mark a chunk of a unit of work as done, and delete its customer rows."""
    chunk.finish(WorkState.DONE, now)
    chunk.errors = _errors_to_json(errors)
    rows.set(chunk.own_key(), ImportRow.rows, None)


def unfinished(account_id: str | None = None) -> Iterator[ImportRow]:
    """Yield the unfinished and parked chunks of an account. Default: those of all accounts.

    One request per shard and MB of index entries, and one per 25 chunks. With an account, other
    accounts' chunks are not read.
    """
    if account_id:
        is_own = ImportRow.account_id == account_id
        shards = (*shards_of_account(account_id), PARKED_SHARD)
        queries = (ImportRow.unfinished.query(shard, is_own) for shard in shards)
    else:
        queries = (ImportRow.due.query(shard) for shard in (*open_shards(), PARKED_SHARD))
    entries = (entry.own_key() for query in queries for entry in query)
    for group in in_groups(entries, _CHUNKS_READ_AT_ONCE):
        yield from (row for row in read_together(*group) if row and row.rows)


def rows_with_pair(chunk: ImportRow, digest: str) -> list[GroupRow]:
    """Return the rows of a chunk whose pair has this digest."""
    return [
        r for group in groups_from_json(chunk.rows) if group.digest == digest for r in group.rows
    ]


def erase_pairs(rows: Rows, key: Key[ImportRow], digests: Collection[str]) -> int:
    """Remove the values of the rows with these digests from a chunk. Return their number.

    The unit of work knows the chunk. A worker that loaded the chunk earlier cannot finish it.
    """
    rows.prefetch(key)
    chunk = rows.get(key)
    if chunk is None or not chunk.rows:
        return 0
    groups = groups_from_json(chunk.rows)
    erased = sum(len(group.rows) for group in groups if group.digest in digests)
    if erased:
        chunk.rows = groups_to_json(
            [group.erased() if group.digest in digests else group for group in groups]
        )
    return erased


def _pointer(
    account_id: str, import_id: str, part: str, groups: Iterable[RowGroup], now: datetime
) -> ChunkPointer:
    return ChunkPointer(
        account_id=account_id,
        import_id=import_id,
        part=part,
        pairs=tuple(group.digest for group in groups if group.digest),
        queued_at=int(now.timestamp() * 1000),
    )


def _progress(row: ImportRow) -> ChunkProgress:
    errors = _errors_from_json(row.errors or [])
    values = {"state": WorkState(row.state), "errors": errors}
    return ChunkProgress(**fields_of(row, ChunkProgress) | values)


def _errors_to_json(errors: Iterable[RowError]) -> list[tuple[str, str, list[int]]]:
    """Convert the first errors to JSON, grouped by code so that the record stays small."""
    first = sorted(errors, key=attrgetter("index"))[:MAX_LISTED_ERRORS]
    indexes: dict[tuple[str, str], list[int]] = {}
    for error in first:
        indexes.setdefault((error.code, error.detail), []).append(error.index)
    return [(code, detail, same) for (code, detail), same in indexes.items()]


def _errors_from_json(groups: Iterable[tuple[str, str, Sequence[int]]]) -> tuple[RowError, ...]:
    return tuple(
        RowError(index=index, code=code, detail=detail)
        for code, detail, indexes in groups
        for index in indexes
    )


def _timestamp(at: datetime) -> int:
    return int(at.timestamp())
