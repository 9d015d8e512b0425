"""Executions: an execution delivers one webhook for one feedback record and one action."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from chalicelib.domain import work
from chalicelib.domain.schema import Choice
from chalicelib.domain.webhooks.retry_schedule import backoff_delay, retry_after_delay

INTERRUPTED: Final = "the attempt was interrupted before its outcome was stored"
TEST_FEEDBACK_ID: Final = "00000000-0000-0000-0000-000000000000"
"""The feedback id in test webhooks, which have no feedback."""


class ExecutionState(Choice):
    """State of a webhook delivery."""

    PENDING = work.PENDING
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    STOPPED = "STOPPED"
    PARKED = work.PARKED


class ReplayResult(StrEnum):
    """The result of the replay of one delivery."""

    REPLAYED = "REPLAYED"
    DUE = "DUE"
    SUCCEEDED = "SUCCEEDED"
    TEST = "TEST"
    LIMITED = "LIMITED"
    NOT_FOUND = "NOT_FOUND"


@dataclass(frozen=True)
class ExecutionPointer:
    """The content of a queue message for an execution."""

    account_id: str
    execution_id: str
    workflow_id: str
    action_id: str


@dataclass(frozen=True)
class Execution:
    """One webhook to deliver.

    Attributes:
        body: the bytes that every attempt signs and sends.
        attempt: the number of attempts started so far.
        settled: the number of the last attempt with a known outcome.
        attempts_before: number of attempts before the last replay. They do not count towards the
            maximum number of attempts.
        claims: number of claims since the last stored outcome of an attempt.
        claim_token: the fencing token of the last claim.
        ambiguous: whether the receiver may have processed the webhook although no response arrived.
        due_at: due time of the next attempt in epoch seconds; None once the execution has ended.
        not_before: earliest time of the next attempt in epoch seconds; None if it is due.
        reason: why the execution ended without success, or why its last attempt failed.
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
    not_before: int | None = None
    ended_at: datetime | None = None
    reason: str = ""

    @property
    def pointer(self) -> ExecutionPointer:
        """The content of a queue message for this execution."""
        return ExecutionPointer(self.account_id, self.id, self.workflow_id, self.action_id)

    @property
    def is_test(self) -> bool:
        """Whether this is a test. A test has one attempt, also if its workflow is disabled."""
        return self.feedback_id == TEST_FEEDBACK_ID

    def replay_result(self, now: datetime) -> ReplayResult:
        """Return the result of a replay. Tests, successful and due executions are not replayed."""
        if self.is_test:
            return ReplayResult.TEST
        if self.state is ExecutionState.SUCCEEDED:
            return ReplayResult.SUCCEEDED
        waits = self.not_before is not None and self.not_before > now.timestamp()
        if self.state is ExecutionState.PENDING and not waits:
            return ReplayResult.DUE
        return ReplayResult.REPLAYED

    @property
    def used(self) -> int:
        """The number of attempts since the last replay, including the current one.

        A test is never replayed, so all its attempts count.
        """
        return self.attempt if self.is_test else self.attempt - self.attempts_before

    def outcome_without_attempt(
        self, attempts: int | None, *, is_enabled: bool
    ) -> "Outcome | None":
        """Return the outcome if no further attempt is allowed, otherwise None.

        Args:
            attempts: the number of attempts of the action; None if it no longer exists.
            is_enabled: whether the workflow of the action is enabled.
        """
        if self.claims > work.MAX_CLAIMS:
            reason = f"no outcome was stored after {work.MAX_CLAIMS} claims"
            return Outcome(ExecutionState.PARKED, reason, self.repeats)
        if attempts is None or not (is_enabled or self.is_test):
            reason = "the action no longer exists or its workflow is disabled"
            return Outcome(ExecutionState.STOPPED, reason, self.repeats)
        if self.used > self._allowed(attempts):
            reason = "interrupted" if self.interrupted else "all attempts are used"
            return Outcome(ExecutionState.FAILED, reason, self.repeats)
        return None

    def outcome_of(
        self,
        attempt: "Attempt",
        now: datetime,
        attempts: int,
        retry_after: str | None = None,
        chance: Callable[[], float] = random.random,
    ) -> "Outcome":
        """Return the outcome of an attempt. Only a status from 200 to 299 is a success.

        Args:
            attempts: the number of attempts of the action.
            retry_after: the ``Retry-After`` header of the response, if present.
            chance: returns a random number from 0 (inclusive) to 1 (exclusive).
        """
        status = attempt.status
        if status is not None and 200 <= status <= 299:
            return Outcome(ExecutionState.SUCCEEDED)
        reason = attempt.error if status is None else f"response status {status}"
        if status == HTTPStatus.GONE:
            return Outcome(ExecutionState.STOPPED, reason, attempt.ambiguous)
        if self.used >= self._allowed(attempts):
            return Outcome(ExecutionState.FAILED, reason, attempt.ambiguous)
        delay = retry_after_delay(retry_after, now) or backoff_delay(self.used, chance())
        return Outcome(ExecutionState.PENDING, reason, attempt.ambiguous, now + delay)

    def _allowed(self, attempts: int) -> int:
        return 1 if self.is_test else attempts

    @property
    def interrupted(self) -> range:
        """The numbers of earlier attempts whose outcome was never stored."""
        return range(self.settled + 1, self.attempt)

    @property
    def repeats(self) -> bool:
        """Whether the receiver may already have received this webhook in an earlier attempt."""
        return self.ambiguous or len(self.interrupted) > 0

    def interrupted_attempts(self, now: datetime) -> "list[Attempt]":
        """Build the earlier attempts whose outcome was never stored."""
        return [Attempt(n, now, error=INTERRUPTED, ambiguous=True) for n in self.interrupted]


@dataclass(frozen=True)
class Attempt:
    """One attempt to deliver an execution, as stored.

    Attributes:
        status: the status of the response; None if there was no response.
        error: the error code if there was no response.
        excerpt: the first bytes of the response body, as text.
        ambiguous: whether the receiver may have processed the webhook although no response arrived.
        repeat: whether the receiver may already have received this webhook in an earlier attempt.
        host: the host that the attempt was sent to.
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
    """The state of an execution after an attempt.

    Attributes:
        ambiguous: whether the receiver may have processed the webhook although no response arrived.
        retry_at: the time of the next attempt of a pending execution.
    """

    state: ExecutionState
    reason: str = ""
    ambiguous: bool = False
    retry_at: datetime | None = None
