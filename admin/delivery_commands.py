"""``deliveries``: what became of webhooks, and sending them again."""

from typing import Annotated

import typer

from admin.account_commands import AccountArgument, account_id_of
from admin.terminal import notices, results, show_table
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.execution import Attempt, ExecutionState
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.deliveries import list_deliveries, read_delivery, replay_delivery

app = typer.Typer(help="Webhooks that were sent, or are to be.", no_args_is_help=True)

DeliveryArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The delivery's id.", parser=account_id_of)
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
    show_table(
        ["Id", "Made", "State", "Attempts", "Feedback", "Reason"],
        [
            [
                each.id,
                format_timestamp(each.created_at),
                each.state.value + (" (ambiguous)" if each.ambiguous else ""),
                str(each.attempt),
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
    results().print(
        f"Delivery   {execution.id}\n"
        f"Account    {execution.account_id}\n"
        f"Workflow   {execution.workflow_id}, action {execution.action_id}\n"
        f"Feedback   {execution.feedback_id}\n"
        f"State      {execution.state.value}{' (ambiguous)' if execution.ambiguous else ''}\n"
        f"Reason     {execution.reason}\n\n"
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
    deliveries: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Their ids.", parser=account_id_of)
    ],
) -> None:
    """Send again what ended without a success, with all its attempts."""
    refused = 0
    for each in deliveries:
        try:
            replay_delivery(each)
        except (Conflict, NotFound) as error:
            refused += 1
            notices().print(f"{each}: {error}")
    notices().print(f"Queued again: {len(deliveries) - refused}.")
    if refused:
        raise typer.Exit(1)


def _mark(attempt: Attempt) -> str:
    marks = {"ambiguous": attempt.ambiguous, "repeat": attempt.repeat}
    return ", ".join(name for name, is_set in marks.items() if is_set)
