"""The table of executions: each a record of work, with its attempts as further rows beside it.

An attempt is begun by a claim and ended by its outcome, which only the claim that began it may
write: both carry the attempt's number.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection, KeysOnlyProjection
from pynamodb.transactions import TransactWrite

from chalicelib.domain.errors import Conflict, NotFound, Unavailable
from chalicelib.domain.execution import (
    INTERRUPTED,
    Attempt,
    Execution,
    ExecutionPointer,
    ExecutionState,
    Outcome,
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
from chalicelib.storage.table import Table, read_together
from chalicelib.storage.transactions import Contended, condition_holds, transaction

LEASE: Final = timedelta(seconds=45)
"""Longer than the function may run, shorter than its messages stay hidden."""

KEPT_FOR: Final = timedelta(days=90)
_EXECUTION: Final = "execution"
_PUT_TOGETHER: Final = 25
_PUT_BYTES: Final = 3_000_000
_WRITES_OF_AN_OUTCOME: Final = 3


class _Due(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    work_shard = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class _ByAccount(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_account"
        projection = IncludeProjection(
            ["workflow_id", "action_id", "feedback_id", "state", "attempt", "ambiguous", "reason"]
        )

    account_id = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class ExecutionRow(Table):
    """An execution, or one of its attempts."""

    class Meta:
        name = "executions"

    execution_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    expires_at = NumberAttribute(null=True)

    account_id = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute(null=True)
    workflow_id = UnicodeAttribute(null=True)
    action_id = UnicodeAttribute(null=True)
    feedback_id = UnicodeAttribute(null=True)
    body = CompressedJsonAttribute(null=True)
    state = UnicodeAttribute(null=True)
    attempt = NumberAttribute(null=True)
    settled = NumberAttribute(null=True)
    attempts_before = NumberAttribute(null=True)
    claims = NumberAttribute(null=True)
    ambiguous = BooleanAttribute(null=True)
    leased_until = NumberAttribute(null=True)
    not_before = NumberAttribute(null=True)
    ended_at = UnicodeAttribute(null=True)
    reason = UnicodeAttribute(null=True)
    work_shard = UnicodeAttribute(null=True)
    due_at = NumberAttribute(null=True)
    due = _Due()
    by_account = _ByAccount()

    at = UnicodeAttribute(null=True)
    status = NumberAttribute(null=True)
    error = UnicodeAttribute(null=True)
    duration_ms = NumberAttribute(null=True)
    excerpt = UnicodeAttribute(null=True)
    repeat = BooleanAttribute(null=True)
    host = UnicodeAttribute(null=True)


def create(executions: Sequence[Execution]) -> None:
    """Keeps new executions; those that are there already stay as they are.

    One request for up to 25, and one more for each of them when some are there already.
    """
    together: list[Execution] = []
    size = 0
    for execution in executions:
        if together and (len(together) == _PUT_TOGETHER or size + len(execution.body) > _PUT_BYTES):
            _create_together(together)
            together, size = [], 0
        together.append(execution)
        size += len(execution.body)
    if together:
        _create_together(together)


def claim(execution_id: str, now: datetime) -> Execution | None:
    """Begins the next attempt; None when it ended, is not yet due, or is being worked on.

    One request. The claim holds for `LEASE`; then another may be made, and sees that this
    attempt's outcome is not known.
    """
    row = ExecutionRow(execution_id, _EXECUTION)
    seconds = int(now.timestamp())
    lease_end = ceil((now + LEASE).timestamp())
    claimed = condition_holds(
        lambda: row.update(
            [
                ExecutionRow.attempt.add(1),
                ExecutionRow.claims.add(1),
                ExecutionRow.leased_until.set(lease_end),
                ExecutionRow.due_at.set(lease_end),
            ],
            condition=_is_pending() & _is_free(seconds) & _is_due(seconds),
        )
    )
    return _execution(row) if claimed else None


def settle(
    execution: Execution,
    attempts: Sequence[Attempt],
    outcome: Outcome,
    now: datetime,
) -> bool:
    """Writes what came of the attempt under way, with its rows; False when it was not ours to say.

    One request; a few when the database does not take it at once, since a second POST costs more.

    Args:
        attempts: the attempts to keep, those whose outcome was lost before this one first.

    Raises:
        Unavailable: it could not be written; the lease will run out.
    """
    actions = _outcome_actions(execution, outcome, now)
    condition = (
        _is_pending()
        & (ExecutionRow.attempt == execution.attempt)
        & (ExecutionRow.settled < execution.attempt)
    )
    for writes_left in reversed(range(_WRITES_OF_AN_OUTCOME)):
        try:
            with transaction() as write:
                write.update(ExecutionRow(execution.id, _EXECUTION), actions, condition=condition)
                for attempt in attempts:
                    write.save(_attempt_row(execution.id, attempt))
        except Contended:
            if not writes_left:
                return False
        except Unavailable:
            if not writes_left:
                raise
        else:
            return True
    return False


def wait(execution_id: str, until: datetime, now: datetime) -> bool:
    """Leaves a pending execution alone until then, without an attempt. One request."""
    row = ExecutionRow(execution_id, _EXECUTION)
    seconds, then = int(now.timestamp()), ceil(until.timestamp())
    return condition_holds(
        lambda: row.update(
            [ExecutionRow.not_before.set(then), ExecutionRow.due_at.set(then)],
            condition=_is_pending() & _is_free(seconds) & _is_due(seconds),
        )
    )


def note_failure(execution_id: str, reason: str, now: datetime) -> bool:
    """Counts a claim that failed before it was one, and parks the execution at the last.

    True when it is parked now. It is looked at again after a wait that grows.
    """
    row = ExecutionRow(execution_id, _EXECUTION)
    free = _is_pending() & _is_free(int(now.timestamp()))
    counted = condition_holds(
        lambda: row.update(
            [ExecutionRow.claims.add(1), ExecutionRow.reason.set(reason)], condition=free
        )
    )
    if not counted:
        return False
    claims = int(row.claims or 0)
    if claims < MAX_CLAIMS:
        due = due_after_failure(now, claims)
        condition_holds(lambda: row.update([ExecutionRow.due_at.set(due)], condition=free))
        return False
    parked = Outcome(ExecutionState.PARKED, reason)
    return condition_holds(
        lambda: row.update(_outcome_actions(_execution(row), parked, now), condition=free)
    )


def find(execution_id: str) -> Execution | None:
    """The execution with this id, as it is now, or None. One request."""
    (row,) = read_together((ExecutionRow, execution_id, _EXECUTION))
    return _execution(row) if row else None


def attempts_of(execution_id: str) -> list[Attempt]:
    """The execution's attempts of the last 90 days, in order."""
    rows = ExecutionRow.query(
        execution_id, ExecutionRow.part.startswith("attempt#"), consistent_read=True
    )
    return [
        Attempt(
            number=int(row.part.removeprefix("attempt#")),
            at=datetime.fromisoformat(row.at),
            status=None if row.status is None else int(row.status),
            error=row.error or "",
            duration_ms=int(row.duration_ms or 0),
            excerpt=row.excerpt or "",
            ambiguous=bool(row.ambiguous),
            repeat=bool(row.repeat),
            host=row.host or "",
        )
        for row in rows
    ]


def of_account(account_id: str, state: ExecutionState | None, at_most: int) -> list[Execution]:
    """The account's executions, the newest first, without their bodies."""
    rows = ExecutionRow.by_account.query(
        account_id,
        filter_condition=ExecutionRow.state == state.value if state else None,
        scan_index_forward=False,
        limit=at_most,
    )
    return [_execution(row) for row in rows]


def overdue(now: datetime, at_most: int) -> Iterator[DueWork]:
    """Unfinished executions that were due before now, some of each shard."""
    for shard in open_shards():
        yield from _in_shard(shard, ExecutionRow.due_at <= int(now.timestamp()), at_most)


def put_off(due: DueWork, now: datetime) -> ExecutionPointer | None:
    """Moves an overdue execution's time forward and answers its pointer, to be queued again.

    None when it ended or was put off meanwhile.
    """
    row = ExecutionRow(due.owner_id, due.part)
    moved = condition_holds(
        lambda: row.update(
            [ExecutionRow.due_at.set(due_once_requeued(now))],
            condition=_is_pending() & (ExecutionRow.due_at == due.due_at),
        )
    )
    return _execution(row).pointer if moved else None


def parked(at_most: int) -> list[ParkedWork]:
    """Executions that wait for an operator, the longest waiting first."""
    nominated = list(_in_shard(PARKED_SHARD, None, at_most))
    rows = read_together(*((ExecutionRow, due.owner_id, due.part) for due in nominated))
    return [
        ParkedWork(
            kind="webhook",
            account_id=row.account_id,
            owner_id=row.execution_id,
            part=row.part,
            claims=int(row.claims or 0),
            reason=row.reason or "",
            parked_at=datetime.fromisoformat(row.ended_at),
        )
        for row in rows
        if row and row.state == ExecutionState.PARKED.value
    ]


def parked_parts(execution_id: str) -> list[str]:
    """The one part of an execution that may wait for an operator, if it does."""
    execution = find(execution_id)
    return [_EXECUTION] if execution and execution.state is ExecutionState.PARKED else []


def revive(execution_id: str, part: str, now: datetime) -> ExecutionPointer:
    """Makes a parked execution pending again, and answers its pointer, to be queued.

    Raises:
        NotFound: there is no such parked execution.
    """
    execution = find(execution_id) if part == _EXECUTION else None
    if execution is None or execution.state is not ExecutionState.PARKED:
        raise NotFound("parked work")
    return reopen(execution, now)


def reopen(execution: Execution, now: datetime) -> ExecutionPointer:
    """Makes an ended execution pending again, with all its attempts; answers its pointer.

    Raises:
        Conflict: it is pending, or had its success.
    """
    row = ExecutionRow(execution.id, _EXECUTION)
    reopened = condition_holds(
        lambda: row.update(
            [
                ExecutionRow.state.set(ExecutionState.PENDING.value),
                ExecutionRow.attempts_before.set(execution.attempt),
                ExecutionRow.settled.set(execution.attempt),
                ExecutionRow.claims.set(0),
                ExecutionRow.work_shard.set(shard_of(execution.id, _EXECUTION)),
                ExecutionRow.due_at.set(first_due(now)),
                ExecutionRow.ended_at.remove(),
                ExecutionRow.expires_at.remove(),
                ExecutionRow.not_before.remove(),
                ExecutionRow.leased_until.remove(),
            ],
            condition=(ExecutionRow.attempt == execution.attempt)
            & ExecutionRow.state.is_in(*(state.value for state in _REPLAYABLE)),
        )
    )
    if not reopened:
        raise Conflict("It is pending, or was delivered: only what ended without is replayed.")
    return execution.pointer


_REPLAYABLE: Final = (ExecutionState.FAILED, ExecutionState.STOPPED, ExecutionState.PARKED)


def interrupted_attempts(execution: Execution, now: datetime) -> list[Attempt]:
    """Rows for the attempts whose outcome was lost."""
    return [
        Attempt(number, now, error=INTERRUPTED, ambiguous=True) for number in execution.interrupted
    ]


def _create_together(executions: Sequence[Execution]) -> None:
    try:
        with transaction() as write:
            for execution in executions:
                _add(write, execution)
    except Contended:
        for execution in executions:
            _create_alone(execution)


def _create_alone(execution: Execution) -> None:
    try:
        _row(execution).save(_is_new())
    except PutError as error:
        if error.cause_response_code == "TransactionConflictException":
            raise Contended from error  # whether the other one writes it is not known yet
        if error.cause_response_code != "ConditionalCheckFailedException":
            raise


def _add(write: TransactWrite, execution: Execution) -> None:
    write.save(_row(execution), _is_new())


def _outcome_actions(execution: Execution, outcome: Outcome, now: datetime) -> list[Action]:
    actions: list[Action] = [
        ExecutionRow.state.set(outcome.state.value),
        ExecutionRow.settled.set(execution.attempt),
        ExecutionRow.leased_until.remove(),
        ExecutionRow.reason.set(outcome.reason) if outcome.reason else ExecutionRow.reason.remove(),
    ]
    if outcome.ambiguous:
        actions.append(ExecutionRow.ambiguous.set(True))
    if outcome.state is ExecutionState.PENDING:
        then = ceil((outcome.retry_at or now).timestamp())
        return [
            *actions,
            ExecutionRow.claims.set(0),
            ExecutionRow.not_before.set(then),
            ExecutionRow.due_at.set(then),
        ]
    actions.append(ExecutionRow.ended_at.set(format_timestamp(now)))
    if outcome.state is ExecutionState.PARKED:
        return [
            *actions,
            ExecutionRow.work_shard.set(PARKED_SHARD),
            ExecutionRow.due_at.set(int(now.timestamp())),
        ]
    return [
        *actions,
        ExecutionRow.expires_at.set(_expiry(now)),
        ExecutionRow.work_shard.remove(),
        ExecutionRow.due_at.remove(),
    ]


def _in_shard(shard: str, until: Condition | None, at_most: int) -> Iterator[DueWork]:
    for row in ExecutionRow.due.query(shard, until, limit=at_most):
        yield DueWork(row.execution_id, row.part, int(row.due_at))


def _is_new() -> Condition:
    return ExecutionRow.execution_id.does_not_exist()


def _is_pending() -> Condition:
    return ExecutionRow.state == ExecutionState.PENDING.value


def _is_free(seconds: int) -> Condition:
    free: Condition = ExecutionRow.leased_until.does_not_exist() | (
        ExecutionRow.leased_until <= seconds
    )
    return free


def _is_due(seconds: int) -> Condition:
    due: Condition = ExecutionRow.not_before.does_not_exist() | (ExecutionRow.not_before <= seconds)
    return due


def _expiry(now: datetime) -> int:
    return int((now + KEPT_FOR).timestamp())


def _row(execution: Execution) -> ExecutionRow:
    return ExecutionRow(
        execution.id,
        _EXECUTION,
        account_id=execution.account_id,
        created_at=format_timestamp(execution.created_at),
        workflow_id=execution.workflow_id,
        action_id=execution.action_id,
        feedback_id=execution.feedback_id,
        body=execution.body,
        state=execution.state.value,
        attempt=0,
        settled=0,
        work_shard=shard_of(execution.id, _EXECUTION),
        due_at=first_due(execution.created_at),
    )


def _attempt_row(execution_id: str, attempt: Attempt) -> ExecutionRow:
    return ExecutionRow(
        execution_id,
        f"attempt#{attempt.number:05d}",
        at=format_timestamp(attempt.at),
        status=attempt.status,
        error=attempt.error or None,
        duration_ms=attempt.duration_ms,
        excerpt=attempt.excerpt or None,
        ambiguous=attempt.ambiguous or None,
        repeat=attempt.repeat or None,
        host=attempt.host or None,
        expires_at=_expiry(attempt.at),
    )


def _execution(row: ExecutionRow) -> Execution:
    return Execution(
        id=row.execution_id,
        account_id=row.account_id,
        workflow_id=row.workflow_id,
        action_id=row.action_id,
        feedback_id=row.feedback_id,
        body=row.body or b"",
        state=ExecutionState(row.state),
        created_at=datetime.fromisoformat(row.created_at),
        attempt=int(row.attempt or 0),
        settled=int(row.settled or 0),
        attempts_before=int(row.attempts_before or 0),
        claims=int(row.claims or 0),
        ambiguous=bool(row.ambiguous),
        due_at=None if row.due_at is None else int(row.due_at),
        ended_at=datetime.fromisoformat(row.ended_at) if row.ended_at else None,
        reason=row.reason or "",
    )
