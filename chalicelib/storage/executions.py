"""The table of executions: each a record of work, with its attempts as further rows beside it.

An attempt is begun by a claim and ended by its outcome, which only the claim that began it may
write: both carry the attempt's number.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection
from pynamodb.transactions import TransactWrite

from chalicelib.domain.errors import Conflict, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.webhooks.execution import (
    INTERRUPTED,
    Attempt,
    Execution,
    ExecutionPointer,
    ExecutionState,
    Outcome,
)
from chalicelib.storage.dynamodb.compressed_json import CompressedJsonAttribute
from chalicelib.storage.dynamodb.table import read_together
from chalicelib.storage.dynamodb.transactions import (
    Contention,
    condition_holds,
    pause,
    transaction,
    update_or_read,
)
from chalicelib.storage.dynamodb.work_records import (
    WorkRecords,
    WorkRow,
    ended,
    open_columns,
    parked,
)

LEASE: Final = timedelta(seconds=45)
"""Longer than the function may run, shorter than its messages stay hidden."""

KEPT_FOR: Final = timedelta(days=90)
PART: Final = "execution"
"""The part of an execution that is not one of its attempts."""

_PUT_TOGETHER: Final = 25
_READ_TOGETHER: Final = 1_000
_PUT_BYTES: Final = 3_000_000
_WRITES_OF_AN_OUTCOME: Final = 6


class _ByAccount(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_account"
        projection = IncludeProjection(
            ["workflow_id", "action_id", "feedback_id", "state", "attempt", "ambiguous", "reason"]
        )

    account_id = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class ExecutionRow(WorkRow):
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
    attempt = NumberAttribute(null=True)
    settled = NumberAttribute(null=True)
    attempts_before = NumberAttribute(null=True)
    ambiguous = BooleanAttribute(null=True)
    claimed_by = UnicodeAttribute(null=True)
    leased_until = NumberAttribute(null=True)
    not_before = NumberAttribute(null=True)
    by_account = _ByAccount()

    at = UnicodeAttribute(null=True)
    status = NumberAttribute(null=True)
    error = UnicodeAttribute(null=True)
    duration_ms = NumberAttribute(null=True)
    excerpt = UnicodeAttribute(null=True)
    repeat = BooleanAttribute(null=True)
    host = UnicodeAttribute(null=True)

    @classmethod
    def is_free(cls, now: datetime) -> Condition:
        """It is pending, no claim holds, and the wait after a failure is over."""
        seconds = int(now.timestamp())
        unclaimed = cls.leased_until.does_not_exist() | (cls.leased_until <= seconds)
        is_due = cls.not_before.does_not_exist() | (cls.not_before <= seconds)
        free: Condition = cls.is_pending() & unclaimed & is_due
        return free

    def pointer(self, _now: datetime) -> ExecutionPointer:
        return _execution(self).pointer

    def on_parking(self) -> list[Action]:
        # Claimed once and not heard of since: the receiver may have it.
        lost = [ExecutionRow.ambiguous.set(True)] if self.attempt > self.settled else []
        return [ExecutionRow.leased_until.remove(), *lost]

    def on_reopening(self) -> list[Action]:
        return [
            ExecutionRow.attempts_before.set(ExecutionRow.attempt),
            ExecutionRow.expires_at.remove(),
            ExecutionRow.not_before.remove(),
            ExecutionRow.leased_until.remove(),
        ]


WORK: Final[WorkRecords[ExecutionPointer]] = WorkRecords("webhook", ExecutionRow)
"""The executions that are to be delivered."""


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


def claim(pointer: ExecutionPointer, now: datetime) -> Execution | None:
    """Begins the next attempt; None when it ended, is not yet due, or is being worked on.

    One request. It bears a mark of its own: when its answer is lost, and the client asks again, the
    claim is known by it. It holds for `LEASE`; then another may be made, and sees that this
    attempt's outcome is not known.
    """
    row = ExecutionRow(pointer.execution_id, PART)
    own_mark = new_id()
    lease_end = ceil((now + LEASE).timestamp())
    actions: list[Action] = [
        ExecutionRow.attempt.add(1),
        ExecutionRow.claims.add(1),
        ExecutionRow.claimed_by.set(own_mark),
        ExecutionRow.leased_until.set(lease_end),
        ExecutionRow.due_at.set(lease_end),
    ]
    only_if = ExecutionRow.is_free(now) & (ExecutionRow.account_id == pointer.account_id)
    claimed = update_or_read(row, actions, only_if)
    return _execution(row) if claimed or row.claimed_by == own_mark else None


def settle(
    execution: Execution,
    attempts: Sequence[Attempt],
    outcome: Outcome,
    now: datetime,
) -> bool:
    """Writes what came of the claim, with its attempts; False when it was not ours to say.

    One request; more when the database does not take it at once, since a second POST costs more.

    Args:
        attempts: the attempts to keep, those whose outcome was lost before this one first. The
            claim's own is the last, unless none was made.

    Raises:
        Unavailable: it could not be written; the lease will run out.
    """
    is_made = any(attempt.number == execution.attempt for attempt in attempts)
    last_attempt = execution.attempt if is_made else execution.attempt - 1
    actions = [
        ExecutionRow.attempt.set(last_attempt),
        ExecutionRow.settled.set(last_attempt),
        *_outcome_actions(outcome, now),
    ]
    condition = (
        ExecutionRow.is_pending()
        & (ExecutionRow.attempt == execution.attempt)
        & (ExecutionRow.claimed_by == execution.claimed_by)
        & (ExecutionRow.settled < execution.attempt)
    )
    for round_number in range(_WRITES_OF_AN_OUTCOME):
        try:
            with transaction() as write:
                write.update(ExecutionRow(execution.id, PART), actions, condition=condition)
                for attempt in attempts:
                    write.save(_attempt_row(execution.id, attempt))
            return True
        except Contention as contended:
            if contended.condition_failed:
                # Not ours any more, unless it was written and just its answer got lost.
                return _is_settled(execution, last_attempt, outcome.state)
        except Unavailable:
            if round_number == _WRITES_OF_AN_OUTCOME - 1:
                raise
        pause(round_number)
    raise Unavailable("Too many writes at once to this delivery.")


def _is_settled(execution: Execution, attempt: int, state: ExecutionState) -> bool:
    found = find(execution.id)
    ours = (execution.claimed_by, attempt, state)
    return found is not None and (found.claimed_by, found.settled, found.state) == ours


def wait(execution_id: str, until: datetime, now: datetime) -> bool:
    """Leaves a pending execution alone until then, without an attempt. One request."""
    row = ExecutionRow(execution_id, PART)
    then = ceil(until.timestamp())
    return condition_holds(
        lambda: row.update(
            [ExecutionRow.not_before.set(then), ExecutionRow.due_at.set(then)],
            condition=ExecutionRow.is_free(now),
        )
    )


def find(execution_id: str) -> Execution | None:
    """The execution with this id, as it is now, or None. One request."""
    (row,) = read_together((ExecutionRow, execution_id, PART))
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
        page_size=_READ_TOGETHER if state else at_most,
    )
    return [_execution(row) for row in rows]


def reopen(execution: Execution, now: datetime) -> ExecutionPointer:
    """Makes an ended execution pending again, with all its attempts; answers its pointer.

    Raises:
        Conflict: it is pending, or had its success.
    """
    replayable = ExecutionRow.state.is_in(*(state.value for state in _REPLAYABLE))
    pointer = WORK.reopen(execution.id, PART, now, only_if=replayable)
    if pointer is None:
        raise Conflict("It is pending, or was delivered: only what ended without is replayed.")
    return pointer


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
    except Contention:
        for execution in executions:
            _create_alone(execution)


def _create_alone(execution: Execution) -> None:
    try:
        _row(execution).save(_is_new())
    except PutError as error:
        if error.cause_response_code == "TransactionConflictException":
            # Whether the other one writes it is not known yet.
            raise Contention(condition_failed=False) from error
        if error.cause_response_code != "ConditionalCheckFailedException":
            raise


def _add(write: TransactWrite, execution: Execution) -> None:
    write.save(_row(execution), _is_new())


def _outcome_actions(outcome: Outcome, now: datetime) -> list[Action]:
    actions: list[Action] = [
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
    if outcome.state is ExecutionState.PARKED:
        return [*actions, *parked(ExecutionRow, now)]
    return [
        *actions,
        ExecutionRow.state.set(outcome.state.value),
        ExecutionRow.ended_at.set(format_timestamp(now)),
        ExecutionRow.expires_at.set(_expiry(now)),
        *ended(ExecutionRow),
    ]


def _is_new() -> Condition:
    return ExecutionRow.execution_id.does_not_exist()


def _expiry(now: datetime) -> int:
    return int((now + KEPT_FOR).timestamp())


def _row(execution: Execution) -> ExecutionRow:
    return ExecutionRow(
        execution.id,
        PART,
        account_id=execution.account_id,
        created_at=format_timestamp(execution.created_at),
        workflow_id=execution.workflow_id,
        action_id=execution.action_id,
        feedback_id=execution.feedback_id,
        body=execution.body,
        attempt=0,
        settled=0,
        **open_columns(execution.account_id, execution.id, PART, execution.created_at),
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
        claimed_by=row.claimed_by or "",
        ambiguous=bool(row.ambiguous),
        due_at=None if row.due_at is None else int(row.due_at),
        ended_at=datetime.fromisoformat(row.ended_at) if row.ended_at else None,
        reason=row.reason or "",
    )
