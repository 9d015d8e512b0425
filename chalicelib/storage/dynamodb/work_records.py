"""Find, reschedule, park and reopen work records of any kind.

The models of tables that contain work records derive from `WorkRow` and override its hooks.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from pynamodb.attributes import UnicodeAttribute
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
from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table, read_together
from chalicelib.storage.dynamodb.transactions import try_write

Pointer = TypeVar("Pointer")


class _Due(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    work_shard = UnicodeAttribute(hash_key=True)
    due_at = IntegerAttribute(range_key=True)


class WorkRow(Table):
    """The base class of models of work records.

    A subclass defines its table keys and ``part``. If the table has a sort key, ``part`` is the
    sort key. Otherwise, ``part`` is a constant.

    Only unfinished records have ``work_shard`` and ``due_at``, the keys of the index `due`.
    """

    part: Any
    account_id: Any

    state = UnicodeAttribute(null=True)
    ended_at = UnicodeAttribute(null=True)
    claims = IntegerAttribute(null=True)
    reason = UnicodeAttribute(null=True)
    work_shard = UnicodeAttribute(null=True)
    due_at = IntegerAttribute(null=True)
    due = _Due()

    @classmethod
    def is_pending(cls) -> Condition:
        """Return a write condition: the record is pending."""
        return cls.state == PENDING

    @classmethod
    def is_free(cls, _now: datetime) -> Condition:
        """Return a write condition: the record is pending, not claimed and not deferred."""
        return cls.is_pending()

    def pointer(self, now: datetime) -> Any:
        """Return the pointer to this record, which is the content of its queue message."""
        raise NotImplementedError

    def on_parking(self) -> list[Action]:
        """Return the changes that this kind of record needs when it is parked. Default: none."""
        return []

    def on_reopening(self) -> list[Action]:
        """Return the changes that this kind of record needs when it is reopened. Default: none."""
        return []


def pending_attributes(
    account_id: str, owner_id: str, part: str, created_at: datetime
) -> dict[str, Any]:
    """Return the attributes of a new, pending work record: state, index shard and due time."""
    return {
        "state": PENDING,
        "work_shard": shard_of(account_id, owner_id, part),
        "due_at": first_due(created_at),
    }


def leave_index(row: type[WorkRow]) -> list[Action]:
    """Return the update actions that remove an ended record from the index of due work."""
    return [row.work_shard.remove(), row.due_at.remove()]


def park(row: type[WorkRow], now: datetime) -> list[Action]:
    """Return the update actions that park a record."""
    return [
        row.state.set(PARKED),
        row.ended_at.set(format_timestamp(now)),
        row.work_shard.set(PARKED_SHARD),
        row.due_at.set(int(now.timestamp())),
    ]


class WorkRecords(Generic[Pointer]):
    """The repository of the work records of one kind.

    Args:
        kind: the kind's name in the operator command line, for example ``import``.
        row: the model of the table.
    """

    def __init__(self, kind: str, row: type[WorkRow]) -> None:
        self.kind: Final = kind
        self._row: Final = row

    def overdue(self, now: datetime, at_most: int) -> Iterator[DueWork]:
        """Find unfinished records whose due time has passed, at most ``at_most`` per shard."""
        for shard in open_shards():
            yield from self._in_shard(shard, self._row.due_at <= int(now.timestamp()), at_most)

    def reschedule(self, due: DueWork, now: datetime) -> Pointer | None:
        """Reschedule an overdue record and return its pointer. The caller queues the pointer.

        Return None if the record has ended or was rescheduled in the meantime.
        """
        row = self._at(due.owner_id, due.part)
        unchanged = self._row.is_pending() & (self._row.due_at == due.due_at)
        is_updated = _update(row, [self._row.due_at.set(due_after_requeue(now))], unchanged)
        return self._pointer(row, now) if is_updated else None

    def defer(self, owner_id: str, part: str, now: datetime) -> None:
        """Reschedule a pending record without recording a failure."""
        row = self._at(owner_id, part)
        _update(row, [self._row.due_at.set(due_after_requeue(now))], self._row.is_pending())

    def record_failure(self, owner_id: str, part: str, reason: str, now: datetime) -> bool:
        """Record a failed attempt and schedule the next one, with exponential backoff.

        If this was the last allowed attempt, park the record. Return True if the record is now
        parked.
        """
        row = self._at(owner_id, part)
        free = self._row.is_free(now)
        if not _update(row, [self._row.claims.add(1), self._row.reason.set(reason)], free):
            return False
        claims = row.claims or 0
        if claims >= MAX_CLAIMS:
            return _update(row, [*park(self._row, now), *row.on_parking()], free)
        _update(row, [self._row.due_at.set(due_after_failure(now, claims))], free)
        return False

    def parked(self, at_most: int) -> list[ParkedWork]:
        """Find up to ``at_most`` parked records (maximum 100), the earliest parked first."""
        candidates = self._in_shard(PARKED_SHARD, None, at_most)
        rows = read_together(
            *((self._row, *self._key(due.owner_id, due.part)) for due in candidates)
        )
        return [
            ParkedWork(
                kind=self.kind,
                account_id=row.account_id,
                owner_id=self._owner_of(row),
                part=row.part,
                claims=min(row.claims or 0, MAX_CLAIMS),
                reason=row.reason or "",
                parked_at=datetime.fromisoformat(row.ended_at),
            )
            for row in rows
            if row and row.state == PARKED
        ]

    def parked_parts(self, owner_id: str) -> list[str]:
        """Return the sort keys of the owner's parked work records."""
        rows = self._row.query(
            owner_id,
            filter_condition=self._row.state == PARKED,
            consistent_read=True,
            attributes_to_get=self._key_names,
        )
        return [row.part for row in rows]

    def revive(self, owner_id: str, part: str, now: datetime) -> Pointer:
        """Make a parked record pending again, reset its failure count and return its pointer.

        Raises:
            NotFound: the record does not exist or is not parked.
        """
        pointer = self.reopen(owner_id, part, now, condition=self._row.state == PARKED)
        if pointer is None:
            raise NotFound("parked work")
        return pointer

    def reopen(
        self, owner_id: str, part: str, now: datetime, *, condition: Condition
    ) -> Pointer | None:
        """Make an ended record pending again, reset its failure count and return its pointer.

        Return None if the record does not exist or does not satisfy ``condition``.
        """
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
        return self._pointer(row, now) if _update(row, actions, condition) else None

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
            yield DueWork(self._owner_of(row), row.part, row.due_at)


def _update(row: WorkRow, actions: list[Action], condition: Condition) -> bool:
    return try_write(lambda: row.update(actions, condition=condition))
