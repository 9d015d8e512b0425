"""The command ``workflow``: list, enable, disable and test an account's workflows."""

from typing import Annotated

import typer

from admin.display.definitions import show_definition
from admin.options import AccountArgument, example, id_argument
from admin.services.definitions.export import workflow_definition
from admin.services.webhooks.send_example import Exchange, send_test
from admin.services.workflows.manage import (
    find_action,
    find_workflow,
    list_workflows,
    set_workflow_enabled,
)
from admin.terminal import notices, show_record, show_table

app = typer.Typer(
    help="List, check, export, compare, enable, disable and test workflows.", no_args_is_help=True
)

WorkflowArgument = Annotated[str, id_argument("The workflow's id.", "WORKFLOW")]


@app.command("list", epilog=example("workflow list ACCOUNT"))
def list_all(account: AccountArgument) -> None:
    """List an account's workflows and their actions, oldest first.

    Cost: two AWS requests.
    """
    show_table(
        ["Id", "Name", "Enabled", "Action", "URL", "Attempts"],
        [
            [
                workflow.id,
                workflow.name,
                workflow.enabled,
                action.key,
                action.url,
                action.attempts,
            ]
            for workflow in list_workflows(account)
            for action in workflow.actions
        ],
    )


@app.command(epilog=example("workflow enable ACCOUNT WORKFLOW"))
def enable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Enable a workflow. The change takes effect within a minute."""
    changed = set_workflow_enabled(account, workflow, enabled=True)
    notices().print(f"Enabled the workflow {changed.name}.")
    show_record({"id": changed.id, "enabled": True})


@app.command(epilog=example("workflow disable ACCOUNT WORKFLOW"))
def disable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Disable a workflow and stop its pending deliveries.

    The change takes effect within a minute.
    """
    changed = set_workflow_enabled(account, workflow, enabled=False)
    notices().print(f"Disabled the workflow {changed.name}.")
    show_record({"id": changed.id, "enabled": False})


@app.command(epilog=example("workflow export ACCOUNT WORKFLOW > workflow.yaml"))
def export(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Print the definition of a workflow in the format of definition files.

    The definition contains the custom headers, which can contain credentials.

    Cost: two AWS requests.
    """
    show_definition(workflow_definition(account, find_workflow(account, workflow)))


@app.command("test", epilog=example("workflow test ACCOUNT WORKFLOW --action crm"))
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
    show_record(_record(exchange), "\n".join(_lines(exchange)))
    if not exchange.response.is_success:
        raise typer.Exit(1)


def _record(exchange: Exchange) -> dict[str, object]:
    response = exchange.response
    return {
        "url": exchange.url,
        "headers": dict(exchange.headers),
        "body": exchange.body.decode(),
        "status": response.status,
        "detail": response.detail,
        "durationMs": response.duration_ms,
        "excerpt": response.excerpt,
    }


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
