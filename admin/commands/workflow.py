"""The command ``workflow``: list, enable, disable and test an account's workflows."""

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

app = typer.Typer(help="List, enable, disable and test workflows.", no_args_is_help=True)

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
    """Enable a workflow. The change takes effect within a minute."""
    changed = set_workflow_enabled(account, workflow, enabled=True)
    notices().print(f"Enabled the workflow {changed.name}.")


@app.command()
def disable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Disable a workflow and stop its pending deliveries.

    The change takes effect within a minute.
    """
    changed = set_workflow_enabled(account, workflow, enabled=False)
    notices().print(f"Disabled the workflow {changed.name}.")


@app.command("test")
def send_example(
    account: AccountArgument,
    workflow: WorkflowArgument,
    action: Annotated[
        str | None, typer.Option(help="The action's key or id. Default: the first action.")
    ] = None,
) -> None:
    """Send a test webhook to an action's URL and print the request and the response."""
    tested = find_workflow(account, workflow)
    exchange = send_test(account, tested, find_action(tested, action))
    for line in _lines(exchange):
        results().print(line)
    if not exchange.response.is_success:
        raise typer.Exit(1)


def _lines(exchange: Exchange) -> list[str]:
    response = exchange.response
    result = f"status {response.status}" if response.status else f"no response: {response.detail}"
    return [
        f"POST {exchange.url}",
        *(f"{name}: {value}" for name, value in exchange.headers.items()),
        "",
        exchange.body.decode(),
        "",
        f"{result} ({response.duration_ms} ms)",
        *([response.excerpt] if response.excerpt else []),
    ]
