"""The command ``delivery``: list, show and replay webhook deliveries."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from admin.options import (
    AccountArgument,
    WideOption,
    example,
    id_argument,
    id_option,
    limit_option,
    show_times_of,
    time_option,
)
from admin.services.webhooks.find import list_executions
from admin.services.webhooks.replay import replay_matching
from admin.services.workflows.manage import list_workflows
from admin.terminal import (
    notices,
    prints_json,
    progress,
    results,
    show_json,
    show_properties,
    show_record,
    show_table,
)
from chalicelib.domain.paging import in_groups
from chalicelib.domain.webhooks.execution import Attempt, Execution, ExecutionState, ReplayResult
from chalicelib.services.webhooks.deliveries import read_execution, replay_executions

_AT_ONCE: Final = 100
_REJECTIONS: Final = {
    ReplayResult.DUE: "An attempt is due or being made.",
    ReplayResult.SUCCEEDED: "The webhook was delivered and is not sent again.",
    ReplayResult.TEST: "A test is never sent again.",
    ReplayResult.NOT_FOUND: "There is no delivery with this id.",
}

app = typer.Typer(help="List, show and replay webhook deliveries.", no_args_is_help=True)


@app.command("list", epilog=example("delivery list ACCOUNT --state failed"))
def list_all(
    account: AccountArgument,
    state: Annotated[
        ExecutionState | None,
        typer.Option(
            help="List only deliveries in this state. Default: all.", case_sensitive=False
        ),
    ] = None,
    limit: Annotated[int, limit_option("deliveries", 1000)] = 50,
    _wide: WideOption = False,
) -> None:
    """List an account's deliveries, newest first.

    Cost: six AWS requests. With --state, one more per 1,000 of the account's deliveries, until
    enough match.
    """
    names = _action_names(account)
    show_table(
        ["Id", "Created", "State", "Attempts", "Workflow and action", "Feedback", "Reason"],
        [
            [
                execution.id,
                execution.created_at,
                execution.state.value + (" (ambiguous)" if execution.ambiguous else ""),
                execution.attempt,
                names.get(execution.action_id, execution.action_id),
                execution.feedback_id,
                execution.reason,
            ]
            for execution in list_executions(account, state, limit)
        ],
        wide=["Attempts", "Workflow and action", "Feedback"],
    )


@app.command("show", epilog=example("delivery show ID"))
def show_delivery(delivery: Annotated[str, id_argument("The delivery's id.")]) -> None:
    """Show a delivery with its body and its attempts of the last 90 days.

    Cost: three AWS requests.
    """
    execution, attempts = read_execution(delivery)
    show_times_of(execution.account_id)
    names = _action_names(execution.account_id)
    if prints_json():
        show_json(_record(execution, attempts))
        return
    name = names.get(execution.action_id, "deleted")
    show_properties(
        {
            "Delivery": execution.id,
            "Account": execution.account_id,
            "Workflow": f"{execution.workflow_id}, action {execution.action_id} ({name})",
            "Feedback": execution.feedback_id,
            "State": execution.state.value + (" (ambiguous)" if execution.ambiguous else ""),
            "Reason": execution.reason,
            "Due": _due_at(execution) or "none",
        }
    )
    results().print(f"\n{execution.body.decode()}\n")
    show_table(
        ["Attempt", "Time", "Host", "Result", "ms", "Flags", "Response"],
        [
            [
                attempt.number,
                attempt.at,
                attempt.host,
                attempt.status or attempt.error,
                attempt.duration_ms,
                _flags(attempt),
                attempt.excerpt[:200],
            ]
            for attempt in attempts
        ],
        wraps=True,
    )


@app.command(
    epilog=example("delivery replay ID ID", "delivery replay --state failed --account ACCOUNT")
)
def replay(
    deliveries: Annotated[list[str] | None, id_argument("The deliveries' ids.", "ID…")] = None,
    state: Annotated[
        ExecutionState | None,
        typer.Option(
            help="Replay all deliveries in this state. pending: those that wait for their next"
            " attempt.",
            case_sensitive=False,
        ),
    ] = None,
    account: Annotated[
        str | None, id_option("Replay only deliveries of this account.", "ACCOUNT")
    ] = None,
    since: Annotated[
        datetime | None,
        time_option("Replay only deliveries that were created at or after this time (UTC)."),
    ] = None,
) -> None:
    """Replay deliveries that ended without success, or that wait for their next attempt.

    Select deliveries by their ids, or all in a state. The next attempt is due now. Attempts before
    the replay do not count towards the maximum number of attempts.
    """
    if bool(deliveries) is (state is not None) or (deliveries and (account or since)):
        raise typer.BadParameter("Provide either ids, or --state and optionally other options.")
    if state is ExecutionState.SUCCEEDED:
        raise typer.BadParameter("Delivered webhooks are not sent again.", param_hint="--state")
    rejected = 0
    if state:
        with progress("Replaying deliveries") as advance:
            replayed = replay_matching(state, account, since, advance)
    else:
        results: dict[str, ReplayResult] = {}
        for group in in_groups(deliveries or [], _AT_ONCE):
            results |= replay_executions(group)
        for delivery, result in results.items():
            if result is not ReplayResult.REPLAYED:
                rejected += 1
                notices().print(f"{delivery}: {_REJECTIONS[result]}")
        replayed = len(results) - rejected
    notices().print(f"Requeued: {replayed}.")
    show_record({"requeued": replayed, "rejected": rejected})
    if rejected:
        raise typer.Exit(1)


def _record(execution: Execution, attempts: Sequence[Attempt]) -> dict[str, object]:
    return {
        "id": execution.id,
        "accountId": execution.account_id,
        "workflowId": execution.workflow_id,
        "actionId": execution.action_id,
        "feedbackId": execution.feedback_id,
        "state": execution.state.value,
        "isAmbiguous": execution.ambiguous,
        "reason": execution.reason,
        "dueAt": _due_at(execution),
        "body": execution.body.decode(),
        "attempts": attempts,
    }


def _action_names(account_id: str) -> dict[str, str]:
    """Return a display name for each of the account's actions, by action id.

    The display name consists of the workflow's name and the action's key.
    """
    return {
        action.id: f"{workflow.name} / {action.key}"
        for workflow in list_workflows(account_id)
        for action in workflow.actions
    }


def _due_at(execution: Execution) -> datetime | None:
    if execution.state is not ExecutionState.PENDING or execution.due_at is None:
        return None
    return datetime.fromtimestamp(execution.due_at, UTC)


def _flags(attempt: Attempt) -> str:
    flags = {"ambiguous": attempt.ambiguous, "repeat": attempt.repeat}
    return ", ".join(name for name, is_set in flags.items() if is_set)
