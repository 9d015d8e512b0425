"""Deliver webhooks: claim an execution, send the request, save the outcome.

Workflows and secrets are loaded before the claim and cached for a minute. Therefore only the
webhook request can fail between the claim and the outcome.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.webhooks.execution import (
    Attempt,
    Execution,
    ExecutionPointer,
    ExecutionState,
    Outcome,
)
from chalicelib.domain.webhooks.headers import webhook_headers
from chalicelib.domain.work import WorkState, first_due
from chalicelib.domain.workflows.workflow import Action
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.outbound.webhook_http.connection import WebhookFailure
from chalicelib.outbound.webhook_http.exchange import post
from chalicelib.queues import WEBHOOKS
from chalicelib.services.webhooks.circuit_breaker import CircuitBreaker
from chalicelib.services.work.worker import Message, Worker, WorkOutcome
from chalicelib.services.workflows.read import signing_secrets_of, workflows_of
from chalicelib.settings import settings
from chalicelib.storage import executions, feedback, workflows
from chalicelib.storage.executions import ExecutionRow
from chalicelib.time_limits import MAX_CALL_S, MIN_CALL_S, time_left_s

_REQUEST_S: Final = 10.0 + MIN_CALL_S
"""The time that must be left to start an attempt.

The webhook request takes up to ten seconds. The rest of the time is for saving the outcome.
"""

MIN_ATTEMPT_S: Final = MAX_CALL_S + _REQUEST_S
"""The time that must be left to claim an execution and make the attempt."""

_PROCESSING_DELAY: Final = timedelta(minutes=1)
"""The time after which an execution whose feedback is not processed yet is due again."""

_TIME_OUTS: Final = frozenset({WebhookFailure.TIMEOUT, WebhookFailure.CONNECT_TIMEOUT})

circuit_breaker: Final = CircuitBreaker()
"""The circuit breaker of this process."""


class ExecutionOutcome(WorkOutcome):
    """The result of processing one queue message."""

    SUCCEEDED = "succeeded", "webhook delivered", "delivered"
    TO_BE_RETRIED = "retry scheduled", "webhook rescheduled"
    FAILED = "failed", "webhook failed", "failed"
    # Partners send tests. They must not trigger the operators' alarm for failed webhooks.
    TEST_FAILED = "test failed", "webhook test failed"
    STOPPED = "stopped", "webhook stopped"
    PARKED = "parked", "webhook parked", "parked"
    DEFERRED = "deferred", "webhook deferred"
    NOTHING_TO_DO = "nothing to do", "webhook skipped"
    CLAIM_LOST = "claim lost", "webhook claim lost"


_OUTCOMES: Final = {
    ExecutionState.SUCCEEDED: ExecutionOutcome.SUCCEEDED,
    ExecutionState.PENDING: ExecutionOutcome.TO_BE_RETRIED,
    ExecutionState.FAILED: ExecutionOutcome.FAILED,
    ExecutionState.STOPPED: ExecutionOutcome.STOPPED,
    ExecutionState.PARKED: ExecutionOutcome.PARKED,
}


def _prefetch(messages: Sequence[Message[ExecutionPointer]]) -> Collection[ExecutionPointer]:
    """Load the workflows and secrets for all messages into the cache. No webhook is sent yet."""
    try:
        for account_id in {message.pointer.account_id for message in messages}:
            workflows_of(account_id)
            signing_secrets_of(account_id)
    except Exception as error:
        # Continue without the cache: each delivery then loads the data itself and records failures.
        logger.warning("webhook prefetch failed", error=type(error).__name__)
    return ()


def send_webhook(pointer: ExecutionPointer) -> ExecutionOutcome:
    """Make the next attempt of an execution if it is due.

    AWS requests: two (claim and outcome), and one more for the first attempt if the sweeper queued
    the execution; one if the execution is not due or the circuit is open.

    Raises:
        Unavailable: too little time is left, or the database throttles or does not respond. If this
            happens before the claim, the execution is unchanged. If it happens after the claim, the
            lease expires, and the next attempt is marked as a repeat.
    """
    if time_left_s() < MIN_ATTEMPT_S:
        raise Unavailable("Too little time is left.")
    action, is_enabled = _find_action(pointer)
    secrets = signing_secrets_of(pointer.account_id)
    host = urlsplit(action.url).netloc.lower() if action else ""
    now = clock.now()
    if open_until := circuit_breaker.open_until(pointer.account_id, host, now):
        is_deferred = executions.defer(pointer.execution_id, open_until, now)
        return ExecutionOutcome.DEFERRED if is_deferred else ExecutionOutcome.NOTHING_TO_DO
    claimed = executions.claim(pointer, now)
    if claimed is None:
        return ExecutionOutcome.NOTHING_TO_DO
    execution, at = executions.build_execution(claimed), clock.now()
    attempts = action.attempts if action else None
    outcome = execution.outcome_without_attempt(attempts, is_enabled=is_enabled)
    if outcome or (outcome := _reason_to_wait(execution, at)):
        return _settle(claimed, execution, [], outcome, at)
    assert action  # noqa: S101 - an execution without an action has an early outcome
    signing = secrets.signing(at) if secrets else ()
    attempt, retry_after = _attempt(execution, action, signing, host, at)
    now = clock.now()
    outcome = execution.outcome_of(attempt, now, action.attempts, retry_after)
    return _settle(claimed, execution, [attempt], outcome, now)


def _find_action(pointer: ExecutionPointer) -> tuple[Action | None, bool]:
    """Return the action, or None if it no longer exists, and whether its workflow is enabled."""
    action = None
    # The cached workflows may be older than this workflow, so load them again if necessary.
    for load in (workflows_of, partial(workflows.list_for_account, consistent=True)):
        candidates = (each for each in load(pointer.account_id) if each.id == pointer.workflow_id)
        workflow = next(candidates, None)
        action = workflow.action(pointer.action_id) if workflow else None
        if action and workflow and workflow.enabled:
            return action, True
    return action, False


def _reason_to_wait(execution: Execution, now: datetime) -> Outcome | None:
    """Return the outcome if the attempt must be made later, or None if it can be made now."""
    if _is_early(execution, now):
        # The webhook's receiver would read feedback without its customer.
        retry_at = now + _PROCESSING_DELAY
        return Outcome(ExecutionState.PENDING, "feedback not processed", retry_at=retry_at)
    if time_left_s() < _REQUEST_S:
        return Outcome(ExecutionState.PENDING, "too little time left", retry_at=now)
    return None


def _is_early(execution: Execution, now: datetime) -> bool:
    """Return whether the feedback of an execution is not processed yet.

    An execution is created before its feedback is processed, and queued afterwards. If this takes
    too long, the sweeper queues it earlier. Only such an execution needs an AWS request.
    """
    if execution.attempt > 1 or now.timestamp() < first_due(execution.created_at):
        return False
    stored = feedback.find(execution.feedback_id)
    return stored is not None and stored.state is WorkState.PENDING


def _attempt(
    execution: Execution, action: Action, secrets: Sequence[str], host: str, at: datetime
) -> tuple[Attempt, str | None]:
    """Send the webhook. Return the attempt and the response's ``Retry-After`` header."""
    if not secrets:
        error = "The account has no webhook secret."
        return Attempt(execution.attempt, at, error=error, repeat=execution.repeats), None
    headers = webhook_headers(
        action.headers,
        execution.body,
        secrets,
        execution_id=execution.id,
        timestamp=int(at.timestamp()),
        is_test=execution.is_test,
    )
    allow_private = settings().private_webhooks
    response = post(action.url, headers, execution.body, allow_private=allow_private)
    circuit_breaker.record_result(
        execution.account_id, host, clock.now(), timed_out=response.error in _TIME_OUTS
    )
    attempt = Attempt(
        number=execution.attempt,
        at=at,
        status=response.status,
        error=response.detail or response.error or "",
        duration_ms=response.duration_ms,
        excerpt=response.excerpt,
        ambiguous=response.is_ambiguous,
        repeat=execution.repeats,
        host=host,
    )
    return attempt, response.retry_after


def _settle(
    claimed: ExecutionRow,
    execution: Execution,
    attempts: Sequence[Attempt],
    outcome: Outcome,
    now: datetime,
) -> ExecutionOutcome:
    """Save the outcome of a claim, and the attempts whose workers stopped without saving theirs.

    The receiver may have received the interrupted attempts. Therefore the execution is ambiguous,
    unless it succeeded.

    Args:
        attempts: the attempt of this claim; empty if the claim ends without an attempt.
    """
    interrupted = execution.interrupted_attempts(now)
    if interrupted and outcome.state is not ExecutionState.SUCCEEDED:
        outcome = replace(outcome, ambiguous=True)
    if not executions.save_outcome(claimed, [*interrupted, *attempts], outcome, now):
        return ExecutionOutcome.CLAIM_LOST
    if outcome.state is ExecutionState.FAILED and execution.is_test:
        return ExecutionOutcome.TEST_FAILED
    return _OUTCOMES[outcome.state]


WORKER: Final = Worker(
    queue=WEBHOOKS,
    parse=partial(decode, ExecutionPointer),
    prepare=_prefetch,
    run=lambda message: send_webhook(message.pointer),
    records=executions.WORK,
    key=lambda pointer: (pointer.execution_id, executions.PART),
    outcomes=ExecutionOutcome,
    log_fields=("account_id", "execution_id"),
    max_concurrency=10,
    min_time_s=MIN_CALL_S,
)
"""A claimed execution is not deferred after an exception: it becomes due when the lease expires."""
