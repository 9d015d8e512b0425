"""The command ``delivery``: list, show and replay webhook deliveries."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from admin.commands.account import AccountArgument, id_argument
from admin.options import WideOption, example
from admin.services.workflows.manage import list_workflows
from admin.terminal import (
    cell_text,
    notices,
    prints_json,
    results,
    show_json,
    show_record,
    show_table,
)
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.webhooks.execution import Attempt, Execution, ExecutionState
from chalicelib.services.webhooks.deliveries import list_deliveries, read_delivery, replay_delivery

app = typer.Typer(help="List, show and replay webhook deliveries.", no_args_is_help=True)

DeliveryArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The delivery's id.", parser=id_argument)
]


@app.command("list", epilog=example("delivery list ACCOUNT --state failed"))
def list_all(
    account: AccountArgument,
    state: Annotated[
        ExecutionState | None,
        typer.Option(
            help="List only deliveries in this state. Default: all.", case_sensitive=False
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(help="The maximum number of deliveries.", min=1, max=1000, metavar="NUMBER"),
    ] = 50,
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
            for execution in list_deliveries(account, state, limit)
        ],
        wide=["Workflow and action", "Feedback"],
    )


@app.command("show", epilog=example("delivery show ID"))
def show_delivery(delivery: DeliveryArgument) -> None:
    """Show a delivery with its body and its attempts of the last 90 days.

    Cost: four AWS requests.
    """
    execution, attempts = read_delivery(delivery)
    names = _action_names(execution.account_id)
    if prints_json():
        show_json(_record(execution, attempts))
        return
    results().print(
        f"Delivery   {execution.id}\n"
        f"Account    {execution.account_id}\n"
        f"Workflow   {execution.workflow_id}, action {execution.action_id}"
        f" ({names.get(execution.action_id, 'deleted')})\n"
        f"Feedback   {execution.feedback_id}\n"
        f"State      {execution.state.value}{' (ambiguous)' if execution.ambiguous else ''}\n"
        f"Reason     {execution.reason}\n"
        f"Due        {cell_text(_due_at(execution)) or 'none'}\n\n"
        f"{execution.body.decode()}\n"
    )
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
    )


@app.command(epilog=example("delivery replay ID ID"))
def replay(
    deliveries: Annotated[list[str], typer.Argument(metavar="ID…", help="The deliveries' ids.")],
) -> None:
    """Replay deliveries that ended without success.

    Attempts before the replay do not count towards the maximum number of attempts.
    """
    rejected = 0
    for delivery in deliveries:
        try:
            replay_delivery(id_argument(delivery))
        except (Conflict, NotFound, typer.BadParameter) as error:
            rejected += 1
            notices().print(f"{delivery}: {error}")
    notices().print(f"Requeued: {len(deliveries) - rejected}.")
    show_record({"requeued": len(deliveries) - rejected, "rejected": rejected})
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
