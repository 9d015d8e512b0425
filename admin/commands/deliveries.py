"""``deliveries``: what became of webhooks, and sending them again."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from admin.commands.account import AccountArgument, id_argument
from admin.terminal import notices, results, show_table
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.webhooks.execution import Attempt, Execution, ExecutionState
from chalicelib.services.webhooks.deliveries import list_deliveries, read_delivery, replay_delivery
from chalicelib.services.workflows.manage import list_workflows

app = typer.Typer(help="Webhooks that were sent, or are to be.", no_args_is_help=True)

DeliveryArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The delivery's id.", parser=id_argument)
]


@app.command("list")
def list_all(
    account: AccountArgument,
    state: Annotated[
        ExecutionState | None, typer.Option(help="Only those.", case_sensitive=False)
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 50,
) -> None:
    """List an account's webhooks, the newest first."""
    names = _names_of_actions(account)
    show_table(
        ["Id", "Made", "State", "Attempts", "Workflow and action", "Feedback", "Reason"],
        [
            [
                each.id,
                format_timestamp(each.created_at),
                each.state.value + (" (ambiguous)" if each.ambiguous else ""),
                str(each.attempt),
                names.get(each.action_id, each.action_id),
                each.feedback_id,
                each.reason,
            ]
            for each in list_deliveries(account, state, limit)
        ],
    )


@app.command()
def show(delivery: DeliveryArgument) -> None:
    """Show one webhook: its body, and every attempt of the last 90 days."""
    execution, attempts = read_delivery(delivery)
    names = _names_of_actions(execution.account_id)
    results().print(
        f"Delivery   {execution.id}\n"
        f"Account    {execution.account_id}\n"
        f"Workflow   {execution.workflow_id}, action {execution.action_id}"
        f" ({names.get(execution.action_id, 'no longer there')})\n"
        f"Feedback   {execution.feedback_id}\n"
        f"State      {execution.state.value}{' (ambiguous)' if execution.ambiguous else ''}\n"
        f"Reason     {execution.reason}\n"
        f"Next look  {_next_look(execution)}\n\n"
        f"{execution.body.decode()}\n"
    )
    show_table(
        ["Attempt", "Time", "Host", "Result", "ms", "Mark", "Answer"],
        [
            [
                str(each.number),
                format_timestamp(each.at),
                each.host,
                str(each.status) if each.status else each.error,
                str(each.duration_ms),
                _mark(each),
                each.excerpt[:200],
            ]
            for each in attempts
        ],
    )


@app.command()
def replay(
    deliveries: Annotated[list[str], typer.Argument(metavar="ID…", help="Their ids.")],
) -> None:
    """Send again what ended without a success, with all its attempts."""
    refused = 0
    for each in deliveries:
        try:
            replay_delivery(id_argument(each))
        except (Conflict, NotFound, typer.BadParameter) as error:
            refused += 1
            notices().print(f"{each}: {error}")
    notices().print(f"Queued again: {len(deliveries) - refused}.")
    if refused:
        raise typer.Exit(1)


def _names_of_actions(account_id: str) -> dict[str, str]:
    """What the present actions are called, by id."""
    return {
        action.id: f"{workflow.name} / {action.key}"
        for workflow in list_workflows(account_id)
        for action in workflow.actions
    }


def _next_look(execution: Execution) -> str:
    if execution.state is not ExecutionState.PENDING or execution.due_at is None:
        return "none"
    return format_timestamp(datetime.fromtimestamp(execution.due_at, UTC))


def _mark(attempt: Attempt) -> str:
    marks = {"ambiguous": attempt.ambiguous, "repeat": attempt.repeat}
    return ", ".join(name for name, is_set in marks.items() if is_set)
