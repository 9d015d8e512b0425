"""Records of work, whatever the work is: what is overdue, what failed, what waits for an operator.

A table whose rows are work derives its model from `WorkRow` and says there how its rows differ. It
knows nothing of what the work is.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.domain.errors import NotFound
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.work import (
    MAX_CLAIMS,
    PARKED,
    PARKED_SHARD,
    PENDING,
    DueWork,
    ParkedWork,
    due_after_failure,
    due_after_requeue,
    first_due,
    open_shards,
    shard_of,
)
from chalicelib.storage.dynamodb.table import Table, read_together
from chalicelib.storage.dynamodb.transactions import condition_holds

Pointer = TypeVar("Pointer")


class _Due(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    work_shard = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class WorkRow(Table):
    """A record of work. Only while it is not done does it carry the keys of the index.

    A subclass brings its keys, and a ``part``: its range key, or the name of its only part.
    """

    part: Any
    account_id: Any

    state = UnicodeAttribute(null=True)
    ended_at = UnicodeAttribute(null=True)
    claims = NumberAttribute(null=True)
    reason = UnicodeAttribute(null=True)
    work_shard = UnicodeAttribute(null=True)
    due_at = NumberAttribute(null=True)
    due = _Due()

    @classmethod
    def is_pending(cls) -> Condition:
        """The work is still to be done."""
        return cls.state == PENDING

    @classmethod
    def is_free(cls, _now: datetime) -> Condition:
        """The work is still to be done, may be done now, and nobody is at it."""
        return cls.is_pending()

    def pointer(self, now: datetime) -> Any:
        """What a message says of this record."""
        raise NotImplementedError

    def on_parking(self) -> list[Action]:
        """What else is written when the record is given up to an operator."""
        return []

    def on_reopening(self) -> list[Action]:
        """What else is written when the record is opened again."""
        return []


def open_columns(account_id: str, owner_id: str, part: str, created_at: datetime) -> dict[str, Any]:
    """The columns that make a new row a record of work."""
    return {
        "state": PENDING,
        "work_shard": shard_of(account_id, owner_id, part),
        "due_at": first_due(created_at),
    }


def ended(row: type[WorkRow]) -> list[Action]:
    """What takes a record out of the index, for good."""
    return [row.work_shard.remove(), row.due_at.remove()]


def parked(row: type[WorkRow], now: datetime) -> list[Action]:
    """What gives a record up to an operator."""
    return [
        row.state.set(PARKED),
        row.ended_at.set(format_timestamp(now)),
        row.work_shard.set(PARKED_SHARD),
        row.due_at.set(int(now.timestamp())),
    ]


class WorkRecords(Generic[Pointer]):
    """The records of one kind of work, as the sweeper, the workers and operators need them.

    Args:
        kind: the work's name for operators: ``import``.
        row: the model of its table.
    """

    def __init__(self, kind: str, row: type[WorkRow]) -> None:
        self.kind: Final = kind
        self._row: Final = row

    def overdue(self, now: datetime, at_most: int) -> Iterator[DueWork]:
        """Unfinished records that were due before now, at most so many of each shard."""
        for shard in open_shards():
            yield from self._in_shard(shard, self._row.due_at <= int(now.timestamp()), at_most)

    def reschedule(self, due: DueWork, now: datetime) -> Pointer | None:
        """Moves an overdue record's time forward and answers its pointer, to be queued again.

        None when it ended or was put off meanwhile.
        """
        row = self._at(due.owner_id, due.part)
        only_if = self._row.is_pending() & (self._row.due_at == due.due_at)
        moved = _is_done(row, [self._row.due_at.set(due_after_requeue(now))], only_if)
        return self._pointer(row, now) if moved else None

    def defer(self, owner_id: str, part: str, now: datetime) -> None:
        """Has a record that could not be begun tried again later; nothing is held against it."""
        row = self._at(owner_id, part)
        _is_done(row, [self._row.due_at.set(due_after_requeue(now))], self._row.is_pending())

    def record_failure(self, owner_id: str, part: str, reason: str, now: datetime) -> bool:
        """Counts a claim that came to no end, and parks the record at the last; True when parked.

        It is tried again after a wait that grows with each failure.
        """
        row = self._at(owner_id, part)
        free = self._row.is_free(now)
        if not _is_done(row, [self._row.claims.add(1), self._row.reason.set(reason)], free):
            return False
        claims = int(row.claims or 0)
        if claims >= MAX_CLAIMS:
            return _is_done(row, [*parked(self._row, now), *row.on_parking()], free)
        _is_done(row, [self._row.due_at.set(due_after_failure(now, claims))], free)
        return False

    def parked(self, at_most: int) -> list[ParkedWork]:
        """Records that wait for an operator, at most 100, the longest waiting first."""
        nominated = self._in_shard(PARKED_SHARD, None, at_most)
        rows = read_together(
            *((self._row, *self._key(due.owner_id, due.part)) for due in nominated)
        )
        return [
            ParkedWork(
                kind=self.kind,
                account_id=row.account_id,
                owner_id=self._owner_of(row),
                part=row.part,
                claims=min(int(row.claims or 0), MAX_CLAIMS),
                reason=row.reason or "",
                parked_at=datetime.fromisoformat(row.ended_at),
            )
            for row in rows
            if row and row.state == PARKED
        ]

    def parked_parts(self, owner_id: str) -> list[str]:
        """The parts of one owner's work that wait for an operator."""
        rows = self._row.query(
            owner_id,
            filter_condition=self._row.state == PARKED,
            consistent_read=True,
            attributes_to_get=self._key_names,
        )
        return [row.part for row in rows]

    def revive(self, owner_id: str, part: str, now: datetime) -> Pointer:
        """Makes a parked record pending again, with all its claims; answers its pointer.

        Raises:
            NotFound: there is no such parked record.
        """
        pointer = self.reopen(owner_id, part, now, only_if=self._row.state == PARKED)
        if pointer is None:
            raise NotFound("parked work")
        return pointer

    def reopen(
        self, owner_id: str, part: str, now: datetime, *, only_if: Condition
    ) -> Pointer | None:
        """Makes an ended record pending again; answers its pointer, or None when it is not so."""
        (row,) = read_together((self._row, *self._key(owner_id, part)))
        if row is None:
            return None
        actions = [
            self._row.state.set(PENDING),
            self._row.work_shard.set(shard_of(row.account_id, owner_id, part)),
            self._row.due_at.set(first_due(now)),
            self._row.ended_at.remove(),
            self._row.claims.remove(),
            *row.on_reopening(),
        ]
        return self._pointer(row, now) if _is_done(row, actions, only_if) else None

    @property
    def _key_names(self) -> list[str]:
        schema = self._row._get_connection().get_meta_table()
        return [name for name in (schema.hash_keyname, schema.range_keyname) if name]

    def _key(self, owner_id: str, part: str) -> tuple[str, str] | tuple[str]:
        return (owner_id, part) if len(self._key_names) > 1 else (owner_id,)

    def _at(self, owner_id: str, part: str) -> WorkRow:
        return self._row(*self._key(owner_id, part))

    def _owner_of(self, row: WorkRow) -> str:
        return str(getattr(row, self._key_names[0]))

    def _pointer(self, row: WorkRow, now: datetime) -> Pointer:
        pointer: Pointer = row.pointer(now)
        return pointer

    def _in_shard(self, shard: str, until: Condition | None, at_most: int) -> Iterator[DueWork]:
        for row in self._row.due.query(shard, until, limit=at_most):
            yield DueWork(self._owner_of(row), row.part, int(row.due_at))


def _is_done(row: WorkRow, actions: list[Action], only_if: Condition) -> bool:
    return condition_holds(lambda: row.update(actions, condition=only_if))
