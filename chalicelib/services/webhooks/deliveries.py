"""List, read, replay and test webhook deliveries, for partners and operators."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import (
    IdempotencyKeyReused,
    InvalidInput,
    NotFound,
    TooManyRequests,
)
from chalicelib.domain.idempotency import origin_of
from chalicelib.domain.list_cursor import CursorMeta, CursorPosition
from chalicelib.domain.webhooks.execution import Attempt, Execution, ReplayResult
from chalicelib.domain.webhooks.partner_view import (
    MAX_ATTEMPTS_SHOWN,
    DeliveryList,
    DeliveryListRequest,
    DeliveryReplayRequest,
    ReplayedDeliveries,
    ReplayedDelivery,
    WebhookAttempt,
    WebhookDelivery,
    WebhookDeliveryDetails,
    WebhookTestRequest,
    delivery_view,
)
from chalicelib.domain.workflows.workflow import new_test_execution
from chalicelib.outbound.queues import send
from chalicelib.queues import WEBHOOKS
from chalicelib.services.workflows.read import workflows_of
from chalicelib.storage import executions, rate_limits, workflows

MAX_EXAMINED: Final = 1_000
"""Maximum number of deliveries that a page with a filter by state examines."""

MAX_TESTS: Final = 10
"""Maximum number of tests of an account in a minute."""

MAX_REPLAYS: Final = 600
"""Maximum number of deliveries of an account that partners replay in a minute."""

_SHARD_PAGE: Final = 300
_MINUTE_S: Final = 60


def read_execution(
    execution_id: str, account_id: str | None = None
) -> tuple[Execution, Sequence[Attempt]]:
    """Return an execution with its last 100 attempts of the last 90 days. One AWS request.

    Args:
        account_id: the account of the execution. Default: any account.

    Raises:
        NotFound: the execution does not exist, or belongs to another account.
    """
    found = executions.find_with_attempts(execution_id, MAX_ATTEMPTS_SHOWN)
    if found is None or account_id not in (None, found[0].account_id):
        raise NotFound("delivery")
    return found


def replay_executions(
    execution_ids: Sequence[str],
    account_id: str | None = None,
    permitted: Callable[[int], int] = lambda count: count,
) -> dict[str, ReplayResult]:
    """Queue executions that ended without success, or that wait for their next attempt.

    Earlier attempts do not count towards the maximum number of attempts. Three AWS requests for up
    to ten executions, and one for each further ten; at most 100 executions. If one of them changes
    in the meantime, one more request for each.

    Args:
        account_id: the account of the executions. Default: any account.
        permitted: returns how many of a number of executions may be replayed. Default: all.

    Returns:
        The result for each id. Executions with other results than `REPLAYED` do not change.
    """
    distinct = list(dict.fromkeys(execution_ids))
    results, replayed = executions.replay(distinct, account_id, clock.now(), permitted)
    send(WEBHOOKS, replayed)
    return results


def list_deliveries(account_id: str, request: DeliveryListRequest) -> DeliveryList:
    """Return a page of the account's deliveries, newest first.

    The page shows the current state of each delivery. Six AWS requests if the workflows are cached;
    with a filter by state, at most four more.

    Raises:
        InvalidInput: the fields contradict each other, or the cursor is invalid.
    """
    selected, cursor = _select(account_id, request)
    current = [
        execution
        for execution in executions.find_many(list(selected))
        if request.state in (None, execution.state)
    ]
    attempts = executions.last_attempts(current)
    items = tuple(_view(execution, attempts.get(execution.id)) for execution in current)
    return DeliveryList(items=items, meta=_meta(len(items), cursor))


def read_delivery(account_id: str, execution_id: str) -> WebhookDeliveryDetails:
    """Return a delivery of the account with its attempts.

    One AWS request if the workflows are cached.

    Raises:
        NotFound: the account has no such delivery.
    """
    execution, attempts = read_execution(execution_id, account_id)
    last = {attempt.number: attempt for attempt in attempts}.get(execution.settled)
    return WebhookDeliveryDetails(
        **dict(_view(execution, last)),
        attempts=tuple(
            WebhookAttempt.model_validate(attempt, from_attributes=True) for attempt in attempts
        ),
    )


def replay_deliveries(account_id: str, request: DeliveryReplayRequest) -> ReplayedDeliveries:
    """Replay the account's deliveries with these ids, or those in a state and a period.

    If fewer of them remain of the account's `MAX_REPLAYS`, replay the first ones. The requests are
    those of `replay_executions` and one more; without ids, also those of the list.

    Raises:
        InvalidInput: the fields contradict each other, or the cursor is invalid.
        TooManyRequests: there are deliveries to replay, and none remains in this minute.
    """
    permitted = partial(_count_replays, account_id)
    if request.ids:
        results, cursor = replay_executions(request.ids, account_id, permitted), None
    else:
        selected, cursor = _select(account_id, request)
        results = replay_executions(list(selected), account_id, permitted)
        handled = list(takewhile(lambda i: results[i] is not ReplayResult.LIMITED, results))
        if len(handled) < len(results):
            cursor = request.cursor_at(*selected[handled[-1]])
        # Only the deliveries that are replayed count: others have left the state, or are tests.
        results = {i: result for i, result in results.items() if result is ReplayResult.REPLAYED}
    items = tuple(ReplayedDelivery(id=i, result=result) for i, result in results.items())
    return ReplayedDeliveries(items=items, meta=_meta(len(items), cursor))


def queue_test(account_id: str, request: WebhookTestRequest, key: str | None) -> WebhookDelivery:
    """Queue a test webhook and return its delivery. Four AWS requests; one more with a key.

    Args:
        key: the idempotency key. A repeated call with the same key returns the same delivery.

    Raises:
        NotFound: the account has no such workflow, or the workflow has no such action.
        TooManyRequests: the account sent `MAX_TESTS` tests in this minute.
        IdempotencyKeyReused: the key was used for another action.
    """
    stored = workflows.list_for_account(account_id, consistent=True)
    workflow = next((each for each in stored if each.id == request.workflow_id), None)
    if workflow is None:
        raise NotFound("workflow")
    action = workflow.action(request.action_id)
    if action is None:
        raise NotFound("action")
    origin = origin_of(account_id, "test_webhook", key, request.model_dump())
    execution = executions.find(origin.record_id) if key else None
    if execution is None:
        now = clock.now()
        _limit_tests(account_id, now)
        execution = new_test_execution(account_id, workflow, action, origin.record_id, now)
        executions.create([execution])
        send(WEBHOOKS, [execution.pointer])
    elif (execution.workflow_id, execution.action_id) != (workflow.id, action.id):
        raise IdempotencyKeyReused
    last = executions.last_attempts([execution]).get(execution.id)
    return delivery_view(execution, last, workflow.name, action.key)


def _select(
    account_id: str, request: DeliveryListRequest
) -> tuple[dict[str, CursorPosition], str | None]:
    """Return the matching deliveries in the index, newest first, and the cursor.

    The deliveries are positions by id.
    """
    errors = list(request.rule_errors())
    if errors:
        raise InvalidInput(errors)
    state, until = request.state, request.created_until
    end = (until, "") if until else None
    listed = executions.newest_first(
        account_id,
        since=request.created_since,
        before=min(filter(None, (request.position(), end)), default=executions.LAST),
        page_size=_SHARD_PAGE if state else request.limit + 2,
    )
    selected: dict[str, CursorPosition] = {}
    last = executions.LAST
    for examined, execution in enumerate(listed):
        if len(selected) == request.limit or examined == MAX_EXAMINED:
            return selected, request.cursor_at(*last)
        last = execution.created_at, execution.id
        if state in (None, execution.state):
            selected[execution.id] = last
    return selected, None


def _meta(item_count: int, cursor: str | None) -> CursorMeta:
    return CursorMeta(item_count=item_count, cursor=cursor, has_more=cursor is not None)


def _view(execution: Execution, last: Attempt | None) -> WebhookDelivery:
    stored = {workflow.id: workflow for workflow in workflows_of(execution.account_id)}
    workflow = stored.get(execution.workflow_id)
    action = workflow.action(execution.action_id) if workflow else None
    return delivery_view(
        execution,
        last,
        workflow.name if workflow else "",
        action.key if action else "",
    )


def _limit_tests(account_id: str, now: datetime) -> None:
    """Count a test webhook and check that the count is within the limit. One AWS request."""
    _count_in_minute(f"webhook-tests/{account_id}", 1, MAX_TESTS, now)


def _count_replays(account_id: str, wanted: int) -> int:
    """Count the replays that a partner wants, and return how many of them are allowed.

    One AWS request.

    Raises:
        TooManyRequests: none is allowed in this minute.
    """
    return _count_in_minute(f"webhook-replays/{account_id}", wanted, MAX_REPLAYS, clock.now())


def _count_in_minute(key: str, wanted: int, limit: int, now: datetime) -> int:
    """Count actions in this minute, and return how many of them are within the limit.

    Raises:
        TooManyRequests: none of them is.
    """
    minute = int(now.timestamp()) // _MINUTE_S
    ends_at = (minute + 1) * _MINUTE_S
    counted, _ = rate_limits.count(f"{key}/{minute}", ends_at, wanted)
    allowed = min(wanted, limit - (counted - wanted))
    if allowed <= 0:
        raise TooManyRequests(max(1, ends_at - int(now.timestamp())))
    return allowed
