"""The table of imports: a header for each, and its chunks, which are records of work.

The chunks of an import are written before its header, and belong to it by their edition: with the
header the import is accepted, without it its chunks are leftovers that nobody works on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.transactions import TransactWrite

from chalicelib.domain.customer_merge import RowGroup
from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.domain.import_batch import (
    MAX_LISTED_ERRORS,
    ChunkPointer,
    ChunkProgress,
    ChunkState,
    ImportHeader,
    RowError,
    groups_from_json,
    groups_to_json,
)
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.work import (
    MAX_CLAIMS,
    PARKED_SHARD,
    DueWork,
    ParkedWork,
    due_after_failure,
    due_once_requeued,
    first_due,
    open_shards,
    shard_of,
)
from chalicelib.storage.compressed_json import CompressedJsonAttribute
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerPairRow
from chalicelib.storage.table import Table, account_key, read_together
from chalicelib.storage.transactions import condition_holds

_HEADER: Final = "header"
_KEPT_FOR: Final = timedelta(days=90)
_NOT_DONE: Final = "The row could not be done. It is kept, and may be done later."
_PROGRESS_COLUMNS: Final = [
    "import_id",
    "part",
    "state",
    "created",
    "filled",
    "unchanged",
    "failed",
    "errors",
    "ended_at",
]


class _Due(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    work_shard = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class ImportRow(Table):
    """The header of an import, or one of its chunks."""

    class Meta:
        name = "imports"

    import_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    account_id = UnicodeAttribute()
    edition = UnicodeAttribute()
    created_at = UnicodeAttribute()
    row_count = NumberAttribute()
    expires_at = NumberAttribute()

    chunk_count = NumberAttribute(null=True)
    input_hash = UnicodeAttribute(null=True)

    number = NumberAttribute(null=True)
    state = UnicodeAttribute(null=True)
    rows = CompressedJsonAttribute(null=True)
    created = NumberAttribute(null=True)
    filled = NumberAttribute(null=True)
    unchanged = NumberAttribute(null=True)
    failed = NumberAttribute(null=True)
    errors = JSONAttribute(null=True)
    ended_at = UnicodeAttribute(null=True)
    claims = NumberAttribute(null=True)
    last_error = UnicodeAttribute(null=True)
    work_shard = UnicodeAttribute(null=True)
    due_at = NumberAttribute(null=True)
    due = _Due()


@dataclass(frozen=True)
class LoadedChunk:
    """A chunk as a worker finds it, and what it needs to know of the account.

    Attributes:
        header: None while, or when, the import was not accepted.
        total: how many customers the account has.
        known: the customer of each pair, by the pair's digest, for pairs that have one.
    """

    row: ImportRow
    header: ImportHeader | None
    groups: tuple[RowGroup, ...]
    total: int
    known: dict[str, str]

    @property
    def is_leftover(self) -> bool:
        """Whether another edition of the import was accepted."""
        return self.header is not None and self.header.edition != self.row.edition


def write_chunks(
    header: ImportHeader, chunks: Sequence[Sequence[RowGroup]], now: datetime
) -> list[ChunkPointer]:
    """Keeps the chunks of an import that is about to be accepted, 25 to a request.

    Raises:
        Unavailable: the database does not take them all; none of them will be worked on.
    """
    pointers = []
    try:
        with ImportRow.batch_write() as batch:
            for number, groups in enumerate(chunks, start=1):
                part = f"chunk#{header.edition}#{number:05d}"
                batch.save(
                    ImportRow(
                        header.id,
                        part,
                        account_id=header.account_id,
                        edition=header.edition,
                        created_at=format_timestamp(header.created_at),
                        row_count=sum(len(group.rows) for group in groups),
                        expires_at=_expiry(now),
                        number=number,
                        state=ChunkState.PENDING.value,
                        rows=groups_to_json(groups),
                        work_shard=shard_of(header.id, part),
                        due_at=first_due(now),
                    )
                )
                pointers.append(_pointer(header.account_id, header.id, part, groups, now))
    except PutError as error:
        raise Unavailable("The database is busy.") from error
    return pointers


def accept(header: ImportHeader, now: datetime) -> bool:
    """Makes the import real; False when one with its id is already there."""
    row = ImportRow(
        header.id,
        _HEADER,
        account_id=header.account_id,
        edition=header.edition,
        created_at=format_timestamp(header.created_at),
        row_count=header.row_count,
        expires_at=_expiry(now),
        chunk_count=header.chunk_count,
        input_hash=header.input_hash,
    )
    return condition_holds(lambda: row.save(ImportRow.import_id.does_not_exist()))


def find(import_id: str) -> ImportHeader | None:
    """The accepted import with this id, of whatever account, or None. One request."""
    (row,) = read_together((ImportRow, import_id, _HEADER))
    return _header(row) if row else None


def progress(header: ImportHeader) -> list[ChunkProgress]:
    """How far each chunk of an accepted import has come."""
    rows = ImportRow.query(
        header.id,
        ImportRow.part.startswith(f"chunk#{header.edition}#"),
        consistent_read=True,
        attributes_to_get=_PROGRESS_COLUMNS,
    )
    return [_progress(row) for row in rows]


def unfinished(import_id: str, edition: str, now: datetime) -> list[ChunkPointer]:
    """Pointers to the chunks of this edition that are still to be done."""
    rows = ImportRow.query(
        import_id, ImportRow.part.startswith(f"chunk#{edition}#"), consistent_read=True
    )
    return [_pointer_of(row, now) for row in rows if row.state == ChunkState.PENDING.value]


def load_chunk(pointer: ChunkPointer) -> LoadedChunk | None:
    """The chunk, its header, the account's total and the known pairs; None when it is gone.

    One request, where the pointer names the pairs.
    """
    chunk, header, counter, *pairs = read_together(
        (ImportRow, pointer.import_id, pointer.part),
        (ImportRow, pointer.import_id, _HEADER),
        (CounterRow, pointer.account_id, Listed.CUSTOMERS.value),
        *((CustomerPairRow, account_key(pointer.account_id, digest)) for digest in pointer.pairs),
    )
    if chunk is None:
        return None
    known = dict(zip(pointer.pairs, pairs, strict=True))
    return LoadedChunk(
        row=chunk,
        header=_header(header) if header else None,
        groups=groups_from_json(chunk.rows) if chunk.rows else (),
        total=int(counter.total) if counter else 0,
        known={digest: row.customer_id for digest, row in known.items() if row},
    )


def finish_chunk(
    write: TransactWrite, chunk: LoadedChunk, done: ChunkProgress, now: datetime
) -> None:
    """Marks the chunk done in this transaction, which fails if it already is; its rows go."""
    write.update(
        ImportRow(chunk.row.import_id, chunk.row.part),
        actions=[
            ImportRow.state.set(ChunkState.DONE.value),
            ImportRow.created.set(done.created),
            ImportRow.filled.set(done.filled),
            ImportRow.unchanged.set(done.unchanged),
            ImportRow.failed.set(done.failed),
            ImportRow.errors.set(_errors_to_json(done.errors)),
            ImportRow.ended_at.set(format_timestamp(now)),
            ImportRow.rows.remove(),
            ImportRow.work_shard.remove(),
            ImportRow.due_at.remove(),
        ],
        condition=_is_pending(),
    )


def note_failure(pointer: ChunkPointer, reason: str, now: datetime) -> bool:
    """Counts a claim that came to no end, and parks the chunk at the last; True when parked.

    The chunk is tried again after a wait that grows with each failure.
    """
    row = ImportRow(pointer.import_id, pointer.part)
    counted = condition_holds(
        lambda: row.update(
            [ImportRow.claims.add(1), ImportRow.last_error.set(reason)], condition=_is_pending()
        )
    )
    if not counted:
        return False
    claims = int(row.claims)
    if claims >= MAX_CLAIMS:
        return _park(row, now)
    condition_holds(
        lambda: row.update(
            [ImportRow.due_at.set(due_after_failure(now, claims))], condition=_is_pending()
        )
    )
    return False


def overdue(now: datetime, at_most: int) -> Iterator[DueWork]:
    """Unfinished chunks that were due before now, some of each shard."""
    for shard in open_shards():
        yield from _in_shard(shard, ImportRow.due_at <= int(now.timestamp()), at_most)


def put_off(due: DueWork, now: datetime) -> ChunkPointer | None:
    """Moves an overdue chunk's time forward and answers its pointer, to be queued again.

    None when it ended or was put off meanwhile.
    """
    row = ImportRow(due.owner_id, due.part)
    moved = condition_holds(
        lambda: row.update(
            [ImportRow.due_at.set(due_once_requeued(now))],
            condition=_is_pending() & (ImportRow.due_at == due.due_at),
        )
    )
    return _pointer_of(row, now) if moved else None


def discard(chunk: LoadedChunk) -> None:
    """Removes a leftover chunk."""
    chunk.row.delete()


def parked(at_most: int) -> list[ParkedWork]:
    """Chunks that wait for an operator, the longest waiting first."""
    nominated = list(_in_shard(PARKED_SHARD, None, at_most))
    rows = read_together(*((ImportRow, due.owner_id, due.part) for due in nominated))
    return [
        ParkedWork(
            kind="import",
            account_id=row.account_id,
            owner_id=row.import_id,
            part=row.part,
            claims=int(row.claims or 0),
            reason=row.last_error or "",
            parked_at=datetime.fromisoformat(row.ended_at),
        )
        for row in rows
        if row and row.state == ChunkState.PARKED.value
    ]


def parked_parts(import_id: str) -> list[str]:
    """The parts of an import that wait for an operator."""
    rows = ImportRow.query(
        import_id,
        filter_condition=ImportRow.state == ChunkState.PARKED.value,
        consistent_read=True,
        attributes_to_get=["import_id", "part"],
    )
    return [row.part for row in rows]


def defer(pointer: ChunkPointer, now: datetime) -> None:
    """Has a chunk that could not be begun tried again later; nothing is held against it."""
    row = ImportRow(pointer.import_id, pointer.part)
    condition_holds(
        lambda: row.update([ImportRow.due_at.set(due_once_requeued(now))], condition=_is_pending())
    )


def revive(import_id: str, part: str, now: datetime) -> ChunkPointer:
    """Makes a parked chunk pending again, and answers its pointer, to be queued.

    Raises:
        NotFound: there is no such parked chunk.
    """
    row = ImportRow(import_id, part)
    revived = condition_holds(
        lambda: row.update(
            [
                ImportRow.state.set(ChunkState.PENDING.value),
                ImportRow.work_shard.set(shard_of(import_id, part)),
                ImportRow.due_at.set(first_due(now)),
                ImportRow.failed.remove(),
                ImportRow.errors.remove(),
                ImportRow.ended_at.remove(),
                ImportRow.claims.remove(),
            ],
            condition=ImportRow.state == ChunkState.PARKED.value,
        )
    )
    if not revived:
        raise NotFound("parked work")
    return _pointer_of(row, now)


def _park(row: ImportRow, now: datetime) -> bool:
    indexes = [r.index for group in groups_from_json(row.rows) for r in group.rows]
    errors = [
        RowError(index=index, code="not_done", detail=_NOT_DONE)
        for index in sorted(indexes)[:MAX_LISTED_ERRORS]
    ]
    return condition_holds(
        lambda: row.update(
            [
                ImportRow.state.set(ChunkState.PARKED.value),
                ImportRow.failed.set(row.row_count),
                ImportRow.errors.set(_errors_to_json(errors)),
                ImportRow.ended_at.set(format_timestamp(now)),
                ImportRow.work_shard.set(PARKED_SHARD),
                ImportRow.due_at.set(int(now.timestamp())),
            ],
            condition=_is_pending(),
        )
    )


def _in_shard(shard: str, until: Condition | None, at_most: int) -> Iterator[DueWork]:
    for row in ImportRow.due.query(shard, until, limit=at_most):
        yield DueWork(row.import_id, row.part, int(row.due_at))


def _is_pending() -> Condition:
    return ImportRow.state == ChunkState.PENDING.value


def _pointer_of(row: ImportRow, now: datetime) -> ChunkPointer:
    groups = groups_from_json(row.rows)
    return _pointer(row.account_id, row.import_id, row.part, groups, now)


def _pointer(
    account_id: str, import_id: str, part: str, groups: Iterable[RowGroup], now: datetime
) -> ChunkPointer:
    return ChunkPointer(
        account_id=account_id,
        import_id=import_id,
        part=part,
        pairs=tuple(group.pair for group in groups if group.pair),
        queued_at=int(now.timestamp() * 1000),
    )


def _header(row: ImportRow) -> ImportHeader:
    return ImportHeader(
        id=row.import_id,
        account_id=row.account_id,
        edition=row.edition,
        row_count=int(row.row_count),
        chunk_count=int(row.chunk_count or 0),
        input_hash=row.input_hash,
        created_at=datetime.fromisoformat(row.created_at),
    )


def _progress(row: ImportRow) -> ChunkProgress:
    return ChunkProgress(
        state=ChunkState(row.state),
        created=int(row.created or 0),
        filled=int(row.filled or 0),
        unchanged=int(row.unchanged or 0),
        failed=int(row.failed or 0),
        errors=tuple(RowError.model_validate(error) for error in row.errors or ()),
        ended_at=datetime.fromisoformat(row.ended_at) if row.ended_at else None,
    )


def _errors_to_json(errors: Iterable[RowError]) -> list[dict[str, Any]]:
    return [error.model_dump() for error in errors]


def _expiry(now: datetime) -> int:
    return int((now + _KEPT_FOR).timestamp())
