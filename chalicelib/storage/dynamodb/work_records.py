"""Find, reschedule, park and reopen work records of any kind.

The models of tables that contain work records derive from `WorkRow` and override its hooks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from pynamodb.attributes import Attribute, UnicodeAttribute
from pynamodb.exceptions import VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.errors import Blocked, Unavailable
from chalicelib.domain.work import (
    MAX_CLAIMS,
    MAX_RUN,
    PARKED,
    PARKED_SHARD,
    PENDING,
    DueWork,
    Interruption,
    due_after_deferral,
    due_after_failure,
    due_after_requeue,
    first_due,
    open_shards,
    shard_of,
)
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.conditional_writes import try_write
from chalicelib.storage.dynamodb.indexes import Index, index
from chalicelib.storage.dynamodb.table import Key, Table, read_together
from chalicelib.storage.dynamodb.unit_of_work import VERSION, Contention, Rows, commit

_INTERRUPTED: Final = "interrupted"

Pointer = TypeVar("Pointer", covariant=True)


def due_index() -> Index:
    """Return the sparse index of unfinished records by due time."""
    return index("work_shard", "due_at", sort_type=IntegerAttribute)


class WorkRow(Table, Generic[Pointer]):
    """The base class of models of work records.

    A subclass defines its table keys and ``part``. If the table has a sort key, ``part`` is the
    sort key. Otherwise, ``part`` is a constant.

    Only unfinished records have ``work_shard`` and ``due_at``. These two are the keys of the index
    `due`.

    ``requeues`` is the number of times that the sweeper requeued the record since it was created,
    claimed, deferred or reopened, or since it failed.

    ``started_at`` is the time in epoch seconds at which a worker started a redelivered record.
    Storing the outcome removes this attribute. ``ready_at`` is the time in epoch seconds from which
    the record can be processed; a delay after a failure or a deferral does not change it.
    ``waits_since`` is the time in epoch seconds from which the record waits for an index.
    """

    part: UnicodeAttribute | str
    account_id: UnicodeAttribute

    state = UnicodeAttribute(null=True)
    ended_at = optional(TimestampAttribute)
    claims = optional(IntegerAttribute)
    deferrals = optional(IntegerAttribute)
    requeues = optional(IntegerAttribute)
    started_at = optional(IntegerAttribute)
    ready_at = optional(IntegerAttribute)
    waits_since = optional(IntegerAttribute)
    reason = optional(UnicodeAttribute)
    work_shard = optional(UnicodeAttribute)
    due_at = optional(IntegerAttribute)
    due = due_index()

    @classmethod
    def is_pending(cls) -> Condition:
        """Return a write condition: the record is pending."""
        return cls.state == PENDING

    @classmethod
    def is_free(cls, _now: datetime) -> Condition:
        """Return a write condition: the record is pending, not claimed and not deferred."""
        return cls.is_pending()

    @classmethod
    def can_start(cls, _now: datetime) -> Condition:
        """Return a write condition: a worker can start the record. Default: it is pending."""
        return cls.is_pending()

    def finish(self, state: str, now: datetime) -> None:
        """End the record."""
        self.state, self.ended_at = state, now
        self.work_shard = self.due_at = self.started_at = self.waits_since = None

    def plan_at(self, due_at: int) -> None:
        """Make the record ready at this time, in epoch seconds."""
        self.due_at = self.ready_at = due_at
        self.started_at = self.waits_since = None

    def set_aside(self, now: datetime) -> None:
        """Park the record."""
        self.state, self.ended_at, self.work_shard = PARKED, now, PARKED_SHARD
        self.due_at, self.started_at, self.waits_since = int(now.timestamp()), None, None

    def make_pending(self, at: datetime) -> None:
        """Make a record pending that is new or has ended, and due two minutes later."""
        self.state = PENDING
        self.work_shard = shard_of(self.account_id, self.own_key().hash_key, self.part)
        self.due_at, self.ready_at = first_due(at), int(at.timestamp())

    def pointer(self, now: datetime) -> Pointer:
        """Return the pointer to this record.

        The pointer is the content of the record's queue message.
        """
        raise NotImplementedError

    def on_parking(self, parked: Self) -> None:
        """Set what this kind of record needs when it is parked. Default: nothing.

        Args:
            parked: a row with the key of this record, and with the attributes to change.
        """

    def requeue(self, now: datetime) -> None:
        """Reschedule a record that the sweeper queues again."""
        requeues = self.requeues or 0
        self.due_at, self.requeues = due_after_requeue(now, requeues), requeues + 1

    def reopen(self, now: datetime) -> None:
        """Make a record pending again that has ended."""
        self.make_pending(now)
        self.ended_at = self.claims = self.deferrals = self.requeues = None


class ClaimRow(WorkRow[Pointer]):
    """The base class of models of work records that a worker claims.

    ``claim_token`` is the fencing token of the last claim, and ``leased_until`` the end of its
    lease in epoch seconds. A record without ``leased_until`` is not claimed.
    """

    claim_token = optional(UnicodeAttribute)
    leased_until = optional(IntegerAttribute)


Updated = TypeVar("Updated", bound=Table)
Claimed = TypeVar("Claimed", bound=ClaimRow[object])


class ClaimLost(Exception):
    """The outcome of a claim can no longer be stored."""


def settle(claimed: Claimed, end: Callable[[Rows, Claimed], object], *known: Table) -> bool:
    """Store the outcome of a claim, and end the claim. Return False if the claim is lost.

    One request. If DynamoDB throttles or does not respond, the request is repeated as long as the
    function has time.

    Args:
        claimed: the row as the claim returned it.
        end: changes the row, and adds further writes. It can raise `ClaimLost`.
        known: further rows that the worker has read.

    Raises:
        Unavailable: the outcome could not be stored.
    """
    key, model = claimed.own_key(), type(claimed)

    def use_case(rows: Rows) -> None:
        rows.prefetch(key)
        # Not the version: the record can change while it is claimed.
        row = rows.get(key, model.state, model.claim_token, model.leased_until)
        if row is None or row.state != PENDING or row.claim_token != claimed.claim_token:
            raise ClaimLost
        if row.leased_until is None:
            raise ClaimLost
        end(rows, row)
        row.leased_until = None

    try:
        commit(use_case, claimed, *known)
    except ClaimLost:
        return False
    return True


class Requeued(NamedTuple, Generic[Pointer]):
    """A rescheduled record.

    Attributes:
        pointer: the pointer to queue.
        ready_at: the time in epoch seconds from which the record can be processed.
    """

    pointer: Pointer
    ready_at: int


class WorkRecords(Generic[Pointer]):
    """The repository of the work records of one kind.

    Args:
        kind: the kind's name in the command line, for example ``import``.
        row: the model of the table.
    """

    def __init__(self, kind: str, row: type[WorkRow[Pointer]]) -> None:
        self.kind: Final = kind
        self.row: Final = row

    def overdue(self, now: datetime, at_once: int) -> Iterator[DueWork]:
        """Yield unfinished records that are due.

        The method alternates between the shards: it yields up to ``at_once`` records of one shard,
        then continues with the next shard. The index is eventually consistent, so it can list
        records that have ended or were rescheduled. Each index entry is read once, so these records
        do not block other records.
        """
        is_due = self.row.due_at <= int(now.timestamp())
        shards = [self.in_shard(shard, is_due, at_once) for shard in open_shards()]
        while shards:
            listed = [(shard, list(islice(shard, at_once))) for shard in shards]
            for _, records in listed:
                yield from records
            shards = [shard for shard, records in listed if len(records) == at_once]

    def reschedule_all(
        self, overdue: Sequence[DueWork], now: datetime
    ) -> Iterator[Requeued[Pointer]]:
        """Reschedule up to 100 overdue records, and yield them.

        The caller queues the pointers. Records that have ended or were rescheduled in the meantime
        are skipped. Two requests; if the transaction fails, one more per record.
        """
        listed = {self._key(due.owner_id, due.part): due.due_at for due in overdue}
        rescheduled = change_all(
            [*listed],
            lambda row: row.state == PENDING and row.due_at == listed[row.own_key()],
            lambda row: row.requeue(now),
            [self.row.state, self.row.due_at],
        )
        for row in rescheduled:
            yield Requeued(row.pointer(now), row.ready_at or 0)

    def interrupt(self, owner_id: str, part: str, error: Exception, now: datetime) -> Interruption:
        """Reschedule or park a record whose attempt raised an exception.

        Contention, throttling and too little time do not count as failures. Blocked work
        (`Blocked`) is deferred until it has waited for ``counts_after``; after that, each attempt
        counts as a failure.
        """
        blocked = error if isinstance(error, Blocked) else None
        reason = str(blocked) if blocked else type(error).__name__
        if isinstance(error, Unavailable) and (blocked is None or blocked.counts_after):
            since = self.defer(owner_id, part, now, reason=reason if blocked else None)
            if blocked is None or since is None:
                return Interruption.DEFERRED
            if now.timestamp() < since + blocked.counts_after.total_seconds():
                return Interruption.DEFERRED
        is_parked = self.record_failure(owner_id, part, reason, now)
        return Interruption.PARKED if is_parked else Interruption.RESCHEDULED

    def defer(
        self, owner_id: str, part: str, now: datetime, *, reason: str | None = None
    ) -> int | None:
        """Reschedule a record without recording a failure, with exponential backoff.

        Return the time in epoch seconds from which the record waits, or None if it does not wait,
        has ended, is claimed or is deferred. One request for the first deferral of a record,
        otherwise two.

        Args:
            reason: the reason for waiting, if the record waits for a state to change.
        """
        row, free = self._at(owner_id, part), self.row.is_free(now)
        actions = [
            self.row.deferrals.add(1),
            self.row.due_at.set(due_after_deferral(now, 1)),
            self.row.requeues.remove(),
            self.row.started_at.remove(),
        ]
        if reason:
            since = self.row.waits_since | int(now.timestamp())
            actions += [self.row.waits_since.set(since), self.row.reason.set(reason)]
        else:
            actions.append(self.row.waits_since.remove())
        if not _update(row, actions, free):
            return None
        deferrals = row.deferrals or 0
        if deferrals > 1:
            _update(row, [self.row.due_at.set(due_after_deferral(now, deferrals))], free)
        return row.waits_since

    def record_start(self, owner_id: str, part: str, now: datetime) -> bool:
        """Record that a worker starts to process a redelivered record.

        If an earlier start has no outcome, count it as a failure, and park the record after the
        last allowed attempt. Return True if the record is now parked. One request, or up to three
        after an earlier start.
        """
        row, startable = self._at(owner_id, part), self.row.can_start(now)
        started_at = self.row.started_at
        start = started_at.set(int(now.timestamp()))
        if not _update(row, [start], startable & started_at.does_not_exist()):
            # A more recent start can belong to a worker that is still running.
            is_old = started_at <= int((now - MAX_RUN).timestamp())
            actions = [start, self.row.claims.add(1), self.row.reason.set(_INTERRUPTED)]
            if not _update(row, actions, startable & is_old):
                return False
        # Claims of an execution whose outcome was not stored have been counted before.
        return self._park_if_exhausted(row, now, startable, reason=_INTERRUPTED)

    def record_first_starts(
        self, keys: Iterable[tuple[str, str]], now: datetime
    ) -> set[tuple[str, str]]:
        """Record that a worker starts to process up to 100 redelivered records together.

        Return the keys of the records that can start and whose start was not recorded before. The
        requests are those of `_update_all`.
        """
        start = self.row.started_at.set(int(now.timestamp()))
        first = self.row.can_start(now) & self.row.started_at.does_not_exist()
        started = _update_all([self._key(*key) for key in keys], [start], first)
        return {(self.owner_of(row), row.part) for row in started}

    def remove_starts(self, keys: Iterable[tuple[str, str]], now: datetime) -> None:
        """Remove the starts of up to 100 records whose processing ended with an exception.

        The requests are those of `_update_all`.
        """
        end, startable = [self.row.started_at.remove()], self.row.can_start(now)
        list(_update_all([self._key(*key) for key in keys], end, startable))

    def record_failure(self, owner_id: str, part: str, reason: str, now: datetime) -> bool:
        """Record a failed attempt and schedule the next one, with exponential backoff.

        If this was the last allowed attempt, park the record. Return True if the record is now
        parked.
        """
        row, free = self._at(owner_id, part), self.row.is_free(now)
        failed = [
            self.row.claims.add(1),
            self.row.reason.set(reason),
            self.row.requeues.remove(),
            self.row.started_at.remove(),
        ]
        if not _update(row, failed, free):
            return False
        if self._park_if_exhausted(row, now, free):
            return True
        _update(row, [self.row.due_at.set(due_after_failure(now, row.claims or 0))], free)
        return False

    def reopen(self, keys: Iterable[tuple[str, str]], now: datetime) -> list[Pointer]:
        """Make up to 100 parked records pending again. Return their pointers.

        Two requests; if the transaction fails, one more per record.

        Args:
            keys: the owner and the part of each record.
        """
        reopened = change_all(
            [self._key(*key) for key in keys],
            lambda row: row.state == PARKED,
            lambda row: row.reopen(now),
            [self.row.state],
        )
        return [row.pointer(now) for row in reopened]

    def read(self, keys: Iterable[tuple[str, str]]) -> list[WorkRow[Pointer] | None]:
        """Load the rows of records by owner and part. One request per 100 records."""
        return read_together(*(self._key(*key) for key in keys))

    def _key(self, owner_id: str, part: str) -> Key[WorkRow[Pointer]]:
        return Key(self.row, owner_id, part if len(self.row.key_names()) > 1 else None)

    def _at(self, owner_id: str, part: str) -> WorkRow[Pointer]:
        return self._key(owner_id, part).row()

    def owner_of(self, row: Table) -> str:
        """Return the partition key of a record."""
        return row.own_key().hash_key

    def _park_if_exhausted(
        self,
        row: WorkRow[Pointer],
        now: datetime,
        condition: Condition,
        reason: str | None = None,
    ) -> bool:
        if (row.claims or 0) < MAX_CLAIMS:
            return False
        parked = row.own_key().row()
        parked.set_aside(now)
        if reason:
            parked.reason = reason
        row.on_parking(parked)
        return _update(row, parked.assignments(), condition)

    def in_shard(
        self, shard: str, condition: Condition | None, page_size: int
    ) -> Iterator[DueWork]:
        """Yield the index entries of a shard. One request per page."""
        for row in self.row.due.query(shard, condition, page_size=page_size):
            yield DueWork(self.owner_of(row), row.part, row.due_at or 0)


def change_all(
    keys: Sequence[Key[Updated]],
    selects: Callable[[Updated], bool],
    change: Callable[[Updated], object],
    relied_on: Sequence[Attribute[Any]],
    read: Rows | None = None,
) -> Iterator[Updated]:
    """Change up to 100 rows, and yield those that were changed.

    Two requests; if the transaction fails, one more per row.

    Args:
        selects: returns whether to change a row.
        relied_on: the attributes from which this follows.
        read: the unit of work that has read the rows. Then the first request is omitted.
    """

    def change_one(key: Key[Updated], rows: Rows) -> Updated | None:
        row = rows.peek(key, because="a row that is not selected stays as it is")
        if row is None or not selects(row):
            return None
        rows.get(key, *relied_on)
        change(row)
        return row

    read = read or Rows()
    read.prefetch(*keys)
    return _together_or_each(change_one, keys, read)


def _update_all(
    keys: Sequence[Key[Updated]], actions: Sequence[Action], condition: Condition
) -> Iterator[Updated]:
    """Update up to 100 rows, and yield those that satisfy the condition, with their keys only.

    One request; if the transaction fails, one more per row.
    """

    def update_one(key: Key[Updated], rows: Rows) -> Updated:
        row = key.row()
        rows.update(row, _versioned(row, actions), condition)
        return row

    return _together_or_each(update_one, keys, Rows())


def _together_or_each(
    use_case: Callable[[Key[Updated], Rows], Updated | None],
    keys: Sequence[Key[Updated]],
    read: Rows,
) -> Iterator[Updated]:
    """Run a use case once for all rows together and, if this fails, for each of them alone.

    A row that many transactions change must not stop the others. A row whose condition fails alone
    is skipped.
    """

    def run(keys: Sequence[Key[Updated]]) -> list[Updated]:
        rows = Rows()
        rows.start_from(read)
        found = [use_case(key, rows) for key in keys]
        rows.send(as_transaction=False)
        return [row for row in found if row]

    if len(keys) > 1:
        try:
            changed = run(keys)
        except (Contention, VerboseClientError):
            # A row has changed, or all rows together are too large.
            pass
        else:
            yield from changed
            return
    for key in keys:
        with suppress(Contention):
            yield from run([key])


def _update(row: Table, actions: Sequence[Action], condition: Condition) -> bool:
    return try_write(lambda: row.update(_versioned(row, actions), condition=condition))


def _versioned(row: Table, actions: Sequence[Action]) -> list[Action]:
    """Add the increment of the version, if the row has one."""
    version = row.get_attributes().get(VERSION)
    return [*actions, *([version.add(1)] if version else [])]
