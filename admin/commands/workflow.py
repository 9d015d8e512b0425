"""``workflow``: the workflows of an account, and trying their webhooks out."""

from typing import Annotated

import typer

from admin.commands.account import AccountArgument, id_argument
from admin.terminal import notices, results, show_table
from chalicelib.services.webhooks.deliveries import Exchange, send_test
from chalicelib.services.workflows.manage import (
    find_action,
    find_workflow,
    list_workflows,
    set_workflow_enabled,
)

app = typer.Typer(help="Workflows and their webhooks.", no_args_is_help=True)

WorkflowArgument = Annotated[
    str, typer.Argument(metavar="WORKFLOW", help="The workflow's id.", parser=id_argument)
]


@app.command("list")
def list_all(account: AccountArgument) -> None:
    """List an account's workflows and their actions, oldest first."""
    show_table(
        ["Id", "Name", "Enabled", "Action", "URL", "Attempts"],
        [
            [
                workflow.id,
                workflow.name,
                "yes" if workflow.enabled else "no",
                action.key,
                action.url,
                str(action.attempts),
            ]
            for workflow in list_workflows(account)
            for action in workflow.actions
        ],
    )


@app.command()
def enable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Let a workflow react to feedback; within a minute it does."""
    switched = set_workflow_enabled(account, workflow, enabled=True)
    notices().print(f"The workflow {switched.name} is enabled.")


@app.command()
def disable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Let a workflow do nothing, within a minute; what it still had to send is stopped."""
    switched = set_workflow_enabled(account, workflow, enabled=False)
    notices().print(f"The workflow {switched.name} is disabled.")


@app.command("test")
def try_action(
    account: AccountArgument,
    workflow: WorkflowArgument,
    action: Annotated[
        str | None, typer.Option(help="The action's key, in place of the first action.")
    ] = None,
) -> None:
    """Send a marked example to an action's URL, and print the whole exchange."""
    found = find_workflow(account, workflow)
    exchange = send_test(account, found, find_action(found, action))
    for line in _lines(exchange):
        results().print(line)
    if not exchange.answer.is_success:
        raise typer.Exit(1)


def _lines(exchange: Exchange) -> list[str]:
    answer = exchange.answer
    came = f"answered {answer.status}" if answer.status else f"no answer: {answer.detail}"
    return [
        f"POST {exchange.url}",
        *(f"{name}: {value}" for name, value in exchange.headers.items()),
        "",
        exchange.body.decode(),
        "",
        f"{came} ({answer.duration_ms} ms)",
        *([answer.excerpt] if answer.excerpt else []),
    ]
