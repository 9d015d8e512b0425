"""Executions: one webhook for one feedback and action, its attempts, and what comes of each."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from chalicelib.domain import work
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.ids import derived_id
from chalicelib.domain.webhooks.retry_schedule import Verdict, after_failure
from chalicelib.domain.workflows.workflow import Action, Workflow, raw_body

INTERRUPTED: Final = "interrupted before its outcome was written"


class ExecutionState(StrEnum):
    """How far an execution has come."""

    PENDING = work.PENDING
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    STOPPED = "STOPPED"
    PARKED = work.PARKED


@dataclass(frozen=True)
class ExecutionPointer:
    """What a message says of an execution: where it is, and what it sends to whose receiver."""

    account_id: str
    execution_id: str
    workflow_id: str
    action_id: str


@dataclass(frozen=True)
class Execution:
    """One webhook to deliver.

    Attributes:
        body: the bytes that every attempt signs and sends.
        attempt: how many attempts were begun; while one is under way, its number.
        settled: the number of the last attempt whose outcome is known.
        attempts_before: attempts that do not count any more, since an operator replayed it.
        claims: claims since one came to an end.
        claimed_by: the mark of the last of them.
        ambiguous: whether the receiver may have got it though no answer came.
        due_at: epoch seconds of the next look at it; None once it has ended.
        reason: why it ended without a success, or what its last attempt failed with.
    """

    id: str
    account_id: str
    workflow_id: str
    action_id: str
    feedback_id: str
    body: bytes
    state: ExecutionState
    created_at: datetime
    attempt: int = 0
    settled: int = 0
    attempts_before: int = 0
    claims: int = 0
    claim_token: str = ""
    ambiguous: bool = False
    due_at: int | None = None
    ended_at: datetime | None = None
    reason: str = ""

    @property
    def pointer(self) -> ExecutionPointer:
        """What a message says of it."""
        return ExecutionPointer(self.account_id, self.id, self.workflow_id, self.action_id)

    @property
    def used(self) -> int:
        """How many of its attempts are used up, with the one under way."""
        return self.attempt - self.attempts_before

    @property
    def interrupted(self) -> range:
        """The numbers of the attempts before this one whose outcome was never written."""
        return range(self.settled + 1, self.attempt)

    @property
    def repeats(self) -> bool:
        """Whether the attempt under way may be the receiver's second sight of it."""
        return self.ambiguous or len(self.interrupted) > 0


@dataclass(frozen=True)
class Attempt:
    """One try at delivering an execution, as it is kept.

    Attributes:
        status: the answer's status; None when none came.
        error: what went wrong where no status came.
        excerpt: the answer's first bytes, as text.
        ambiguous: the receiver may have got it, though no answer came.
        repeat: an earlier attempt was ambiguous, so the receiver may get it twice.
        host: where it was sent.
    """

    number: int
    at: datetime
    status: int | None = None
    error: str = ""
    duration_ms: int = 0
    excerpt: str = ""
    ambiguous: bool = False
    repeat: bool = False
    host: str = ""


@dataclass(frozen=True)
class Outcome:
    """What an execution is from now on, and why.

    Attributes:
        ambiguous: whether this may have reached the receiver though no answer came.
        retry_at: when a pending one is tried again.
    """

    state: ExecutionState
    reason: str = ""
    ambiguous: bool = False
    retry_at: datetime | None = None


def new_execution(
    workflow: Workflow, action: Action, feedback: Feedback, now: datetime
) -> Execution:
    """The execution of this action for this feedback: the same id every time."""
    return Execution(
        id=derived_id("execution", feedback.id, workflow.id, action.id),
        account_id=feedback.account_id,
        workflow_id=workflow.id,
        action_id=action.id,
        feedback_id=feedback.id,
        body=raw_body(workflow, action, feedback.id, feedback.context_id),
        state=ExecutionState.PENDING,
        created_at=now,
    )


def outcome_of(
    attempt: Attempt, now: datetime, *, used: int, allowed: int, retry_after: str | None = None
) -> Outcome:
    """What comes of an attempt, judged by its status alone (interface, section 6.2)."""
    status = attempt.status
    if status is not None and 200 <= status <= 299:
        return Outcome(ExecutionState.SUCCEEDED)
    reason = attempt.error if status is None else f"answered {status}"
    decision = after_failure(
        attempt=used, attempts_allowed=allowed, now=now, status=status, retry_after=retry_after
    )
    return Outcome(_STATES[decision.verdict], reason, attempt.ambiguous, decision.retry_at)


_STATES: Final = {
    Verdict.RETRY: ExecutionState.PENDING,
    Verdict.FAILED: ExecutionState.FAILED,
    Verdict.STOPPED: ExecutionState.STOPPED,
}
