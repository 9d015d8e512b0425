"""The table of executions: one work record per execution, and one row per attempt.

A worker claims an execution before it starts an attempt. Each claim has a new fencing token, and
only the worker with the current token can save the outcome.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from heapq import merge
from itertools import groupby
from math import ceil
from typing import Final, Self
from zlib import crc32

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.ids import new_id
from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.webhooks.execution import (
    Attempt,
    Execution,
    ExecutionPointer,
    ExecutionState,
    Outcome,
    ReplayResult,
)
from chalicelib.storage.dynamodb.attributes import (
    EARLIEST,
    LATEST,
    CompressedJsonAttribute,
    IntegerAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.conditional_writes import try_write, update_or_read
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import Key, account_key, fields_of, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.dynamodb.work_records import (
    ClaimRow,
    WorkRecords,
    change_all,
    settle,
)

LEASE: Final = timedelta(seconds=45)
"""The duration of a claim's lease.

It is longer than the function's time-out and shorter than the queue's visibility timeout.
"""

RETENTION: Final = timedelta(days=90)
PART: Final = "execution"
"""The sort key of an execution's work record.

The attempts of the execution are separate rows with the sort keys ``attempt#NUMBER``.
"""

_MAX_PUTS: Final = 100
_MAX_PUT_BYTES: Final = 3_000_000
FILTERED_PAGE_SIZE: Final = 1_000
_ACCOUNT_SHARDS: Final = 4
LAST: Final = (LATEST, "")
"""A position before the newest execution."""


class ExecutionRow(ClaimRow[ExecutionPointer]):
    """The table row of an execution or of one of its attempts.

    ``claimed`` is the number of the last claimed attempt. ``attempt`` is the number of the last
    attempt with an outcome. The index `by_account_shard` contains only ``attempt``, so a claim does
    not write the index. Each execution belongs to one of four shards of its account, because AWS
    limits the writes of one index key.
    """

    class Meta:
        name = "executions"

    execution_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    expires_at = optional(IntegerAttribute)

    account_id = UnicodeAttribute(null=True)
    account_shard = optional(UnicodeAttribute)
    created_at = TimestampAttribute(null=True)
    workflow_id = optional(UnicodeAttribute)
    action_id = optional(UnicodeAttribute)
    feedback_id = optional(UnicodeAttribute)
    body = optional(CompressedJsonAttribute)
    attempt = optional(IntegerAttribute)
    claimed = IntegerAttribute(null=True)
    settled = IntegerAttribute(null=True)
    attempts_before = optional(IntegerAttribute)
    ambiguous = optional(BooleanAttribute)
    not_before = optional(IntegerAttribute)
    by_account_shard = index(
        "account_shard",
        "created_at",
        including("account_id workflow_id action_id feedback_id state attempt ambiguous reason"),
    )

    at = optional(TimestampAttribute)
    status = optional(IntegerAttribute)
    error = optional(UnicodeAttribute)
    duration_ms = optional(IntegerAttribute)
    excerpt = optional(UnicodeAttribute)
    repeat = optional(BooleanAttribute)
    host = optional(UnicodeAttribute)

    @classmethod
    def is_free(cls, now: datetime) -> Condition:
        """Return a write condition: the execution is pending, not claimed and not deferred."""
        is_due = cls.not_before.does_not_exist() | (cls.not_before <= int(now.timestamp()))
        free: Condition = cls.is_unclaimed(now) & is_due
        return free

    @classmethod
    def is_unclaimed(cls, now: datetime) -> Condition:
        """Return a write condition: the execution is pending and not claimed."""
        is_expired = cls.leased_until <= int(now.timestamp())
        unclaimed: Condition
        unclaimed = cls.is_pending() & (cls.leased_until.does_not_exist() | is_expired)
        return unclaimed

    @classmethod
    def can_start(cls, now: datetime) -> Condition:
        """Return a write condition: a worker can claim the execution."""
        return cls.is_free(now)

    def pointer(self, _now: datetime) -> ExecutionPointer:
        return build_execution(self).pointer

    def on_parking(self, parked: Self) -> None:
        parked.leased_until = None
        # If the outcome of the last claim is unknown, the receiver may have received the webhook,
        # so mark the execution as ambiguous.
        if self.claimed > self.settled:
            parked.ambiguous = True

    def reopen(self, now: datetime) -> None:
        super().reopen(now)
        self.attempts_before = self.claimed
        self.expires_at = self.not_before = self.leased_until = None


WORK: Final[WorkRecords[ExecutionPointer]] = WorkRecords("webhook", ExecutionRow)
"""The work records of executions."""


def create(executions: Sequence[Execution]) -> None:
    """Add the executions that do not exist yet. Existing executions are not changed.

    One request per 100 executions; one more if some of the 100 already exist.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """
    batch: list[Execution] = []
    size = 0
    for execution in executions:
        if batch and (len(batch) == _MAX_PUTS or size + len(execution.body) > _MAX_PUT_BYTES):
            commit(partial(_create_batch, batch))
            batch, size = [], 0
        batch.append(execution)
        size += len(execution.body)
    if batch:
        commit(partial(_create_batch, batch))


def claim(pointer: ExecutionPointer, now: datetime) -> ExecutionRow | None:
    """Claim an execution for its next attempt, in one request.

    Return None if the execution has ended, is deferred, or is claimed by another worker. If
    botocore repeats the request because it lost the response, the stored claim token shows that
    the first request succeeded. If no outcome is saved before the lease expires, another worker
    can claim the execution; the outcome of this attempt is then unknown.
    """
    row = Key(ExecutionRow, pointer.execution_id, PART).row()
    claim_token = new_id()
    lease_end = ceil((now + LEASE).timestamp())
    actions = [
        ExecutionRow.claimed.set(ExecutionRow.claimed + 1),
        ExecutionRow.claims.add(1),
        ExecutionRow.claim_token.set(claim_token),
        ExecutionRow.leased_until.set(lease_end),
        ExecutionRow.due_at.set(lease_end),
        ExecutionRow.requeues.remove(),
        ExecutionRow.started_at.remove(),
        ExecutionRow.waits_since.remove(),
    ]
    condition = ExecutionRow.is_free(now) & (ExecutionRow.account_id == pointer.account_id)
    is_updated = update_or_read(row, actions, condition)
    return row if is_updated or row.claim_token == claim_token else None


def save_outcome(
    claimed: ExecutionRow, attempts: Sequence[Attempt], outcome: Outcome, now: datetime
) -> bool:
    """Save the outcome of a claim and the attempts; see `settle`.

    The webhook is sent again if the outcome is not saved.

    Args:
        attempts: the attempts to save: first the interrupted attempts, then the attempt of this
            claim, if an attempt was made.
    """
    was_attempted = any(attempt.number == claimed.claimed for attempt in attempts)
    last_attempt = claimed.claimed if was_attempted else claimed.claimed - 1

    def end(rows: Rows, row: ExecutionRow) -> None:
        row.attempt = row.claimed = row.settled = last_attempt
        _end_attempt(row, outcome, now)
        for attempt in attempts:
            _add_attempt(rows, row.execution_id, attempt)

    return settle(claimed, end)


def defer(execution_id: str, until: datetime, now: datetime) -> bool:
    """Defer an execution until this time, in one request.

    Return False if the execution has ended, is claimed or is already deferred.
    """
    row = Key(ExecutionRow, execution_id, PART).row()
    row.not_before = row.due_at = ceil(until.timestamp())
    row.started_at = row.waits_since = None
    return try_write(lambda: row.update(row.assignments(), ExecutionRow.is_free(now)))


def find(execution_id: str) -> Execution | None:
    """Load an execution. Return None if it does not exist. One consistent request."""
    (row,) = read_together(Key(ExecutionRow, execution_id, PART))
    return build_execution(row) if row else None


def find_many(execution_ids: Sequence[str]) -> list[Execution]:
    """Load the executions with these ids, and ignore unknown ids.

    One consistent request per 100 ids.
    """
    return [build_execution(row) for row in _rows(execution_ids) if row]


def find_with_attempts(execution_id: str, at_most: int) -> tuple[Execution, list[Attempt]] | None:
    """Load an execution with its last attempts of the last 90 days, in order.

    Return None if the execution does not exist. One consistent request.

    Args:
        at_most: the maximum number of attempts.
    """
    # The sort key of the execution is greater than the sort keys of its attempts.
    newest_first = ExecutionRow.query(
        execution_id, scan_index_forward=False, consistent_read=True, limit=at_most + 1
    )
    execution, rows = next(newest_first, None), list(newest_first)
    if execution is None or execution.part != PART:
        return None
    return build_execution(execution), [_attempt(row) for row in reversed(rows)]


def last_attempts(executions: Sequence[Execution]) -> dict[str, Attempt]:
    """Load the last attempt of each execution that has one, by execution id.

    One consistent request per 100 executions.
    """
    rows = read_together(
        *(
            Key(ExecutionRow, execution.id, _attempt_part(execution.settled))
            for execution in executions
            if execution.settled
        )
    )
    return {row.execution_id: _attempt(row) for row in rows if row}


def newest_first(
    account_id: str,
    state: ExecutionState | None = None,
    since: datetime | None = None,
    before: CursorPosition = LAST,
    page_size: int = FILTERED_PAGE_SIZE,
) -> Iterator[Execution]:
    """Yield executions of the account, newest first, without their bodies.

    Executions that were created at the same time are in descending order of their ids. Four
    requests; one more for each further ``page_size`` executions of a shard. The index is
    eventually consistent.

    Args:
        since: the earliest time of creation.
        before: the creation time and the id of an execution; only executions that come after it in
            this order are yielded.
    """
    first = since or EARLIEST
    if first > before[0]:
        return
    shards = (
        ExecutionRow.by_account_shard.query(
            _shard_key(account_id, shard),
            ExecutionRow.created_at.between(first, before[0]),
            filter_condition=ExecutionRow.state == state.value if state else None,
            scan_index_forward=False,
            page_size=page_size,
        )
        for shard in range(_ACCOUNT_SHARDS)
    )
    rows = merge(*shards, key=lambda row: row.created_at, reverse=True)
    for _, created_together in groupby(rows, key=lambda row: row.created_at):
        for row in sorted(created_together, key=lambda row: row.execution_id, reverse=True):
            if (row.created_at, row.execution_id) < before:
                yield build_execution(row)


def replay(
    execution_ids: Sequence[str],
    account_id: str | None,
    now: datetime,
    permitted: Callable[[int], int],
) -> tuple[dict[str, ReplayResult], list[ExecutionPointer]]:
    """Make up to 100 executions due now that ended without success or wait for an attempt.

    Reset their attempt counts. Return the result for each id, and the pointers to queue. Two
    requests; if an execution changes in the meantime, one more for each.

    Args:
        account_id: the account of the executions. None means any account.
        permitted: returns how many of a number of executions may be replayed: the first ones.
    """
    keys = {execution_id: Key(ExecutionRow, execution_id, PART) for execution_id in execution_ids}
    read = Rows()
    read.prefetch(*keys.values())

    def result_of(row: ExecutionRow | None) -> ReplayResult:
        if row is None or account_id not in (None, row.account_id):
            return ReplayResult.NOT_FOUND
        return build_execution(row).replay_result(now)

    def is_replayable(row: ExecutionRow) -> bool:
        # A worker whose clock is ahead can claim an execution that still waits for this clock.
        is_claimed = (row.leased_until or 0) > now.timestamp()
        return not is_claimed and result_of(row) is ReplayResult.REPLAYED

    results = {i: result_of(read.known(key)) for i, key in keys.items()}
    selected = [i for i, result in results.items() if result is ReplayResult.REPLAYED]
    count = permitted(len(selected)) if selected else 0
    results |= dict.fromkeys(selected[count:], ReplayResult.LIMITED)
    # Another request can replay an execution in the meantime.
    results |= dict.fromkeys(selected[:count], ReplayResult.DUE)
    replayed = list(
        change_all(
            [keys[i] for i in selected[:count]],
            is_replayable,
            lambda row: row.reopen(now),
            [ExecutionRow.state, ExecutionRow.not_before, ExecutionRow.leased_until],
            read,
        )
    )
    results |= dict.fromkeys((row.execution_id for row in replayed), ReplayResult.REPLAYED)
    return results, [row.pointer(now) for row in replayed]


def _create_batch(executions: Sequence[Execution], rows: Rows) -> None:
    for execution in executions:
        key = Key(ExecutionRow, execution.id, PART)
        if not rows.has_failed(key):
            _fill(rows.create(key), execution)


def _end_attempt(row: ExecutionRow, outcome: Outcome, now: datetime) -> None:
    row.reason = outcome.reason or None
    row.ambiguous = outcome.ambiguous or row.ambiguous
    if outcome.state is ExecutionState.PENDING:
        retry_at = ceil((outcome.retry_at or now).timestamp())
        row.claims, row.not_before, row.due_at = 0, retry_at, retry_at
        if retry_at > now.timestamp():
            row.plan_at(retry_at)
    elif outcome.state is ExecutionState.PARKED:
        row.set_aside(now)
    else:
        row.finish(outcome.state, now)
        row.expires_at = _expires_at(now)


def _expires_at(now: datetime) -> int:
    return int((now + RETENTION).timestamp())


def _fill(row: ExecutionRow, execution: Execution) -> None:
    shard = crc32(execution.id.encode()) % _ACCOUNT_SHARDS
    row.account_id = execution.account_id
    row.account_shard = _shard_key(execution.account_id, shard)
    row.workflow_id, row.action_id = execution.workflow_id, execution.action_id
    row.feedback_id, row.body = execution.feedback_id, execution.body
    row.attempt = row.claimed = row.settled = 0
    row.created_at = execution.created_at
    row.make_pending(execution.created_at)


def _shard_key(account_id: str, shard: int) -> str:
    return account_key(account_id, str(shard))


def _rows(execution_ids: Sequence[str]) -> list[ExecutionRow | None]:
    return read_together(*(Key(ExecutionRow, execution_id, PART) for execution_id in execution_ids))


def _attempt_part(number: int) -> str:
    return f"attempt#{number:05d}"


def _add_attempt(rows: Rows, execution_id: str, attempt: Attempt) -> None:
    row = rows.create(Key(ExecutionRow, execution_id, _attempt_part(attempt.number)))
    row.at, row.status, row.duration_ms = attempt.at, attempt.status, attempt.duration_ms
    row.error, row.excerpt = attempt.error or None, attempt.excerpt or None
    row.ambiguous, row.repeat = attempt.ambiguous or None, attempt.repeat or None
    row.host = attempt.host or None
    row.expires_at = _expires_at(attempt.at)


def _attempt(row: ExecutionRow) -> Attempt:
    number = int(row.part.removeprefix("attempt#"))
    return Attempt(**fields_of(row, Attempt) | {"number": number})


def build_execution(row: ExecutionRow) -> Execution:
    """Build an execution from its table row or its index entry."""
    values = fields_of(row, Execution) | {
        "id": row.execution_id,
        "body": row.body or b"",
        "state": ExecutionState(row.state),
        "attempt": row.claimed,
    }
    return Execution(**values)
