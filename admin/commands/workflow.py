"""The command ``workflow``: list, enable, disable and test an account's workflows."""

from typing import Annotated

import typer

from admin.display.definitions import show_definition
from admin.display.forms import show_workflow
from admin.options import AccountArgument, WideOption, example
from admin.services.definitions.export import workflow_definition
from admin.services.forms.manage import list_forms
from admin.services.webhooks.send_example import Exchange, send_test
from admin.services.workflows.manage import (
    find_action,
    find_workflow,
    list_workflows,
    set_workflow_enabled,
)
from admin.terminal import notices, show_record, show_table
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.services.accounts.directory import current_directory

app = typer.Typer(
    help="List, show, check, export, compare, enable, disable and test workflows.",
    no_args_is_help=True,
)

WorkflowArgument = Annotated[
    str,
    typer.Argument(
        metavar="WORKFLOW", help="The workflow's id or name, or the beginning of one of them."
    ),
]


@app.command("list", epilog=example("workflow list ACCOUNT"))
def list_all(account: AccountArgument, _wide: WideOption = False) -> None:
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
        wide=["URL", "Attempts"],
    )


@app.command(epilog=example("workflow show ACCOUNT unhappy"))
def show(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Show the conditions and the actions of a workflow.

    Cost: two AWS requests, one per 100 brands, and six per 100 forms and surveys.
    """
    found = find_workflow(account, workflow)
    names = {place.id: place.name for place in current_directory(account).places}
    for kind in FormKind:
        names |= {form.saved.id: form.saved.name for form in list_forms(account, kind)}
    show_workflow(account, found, names)


@app.command(epilog=example("workflow enable ACCOUNT WORKFLOW"))
def enable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Enable a workflow. The change takes effect within a minute."""
    found = find_workflow(account, workflow)
    changed = set_workflow_enabled(account, found.id, enabled=True)
    notices().print(f"Enabled the workflow {changed.name}.")
    show_record({"id": changed.id, "enabled": True})


@app.command(epilog=example("workflow disable ACCOUNT WORKFLOW"))
def disable(account: AccountArgument, workflow: WorkflowArgument) -> None:
    """Disable a workflow and stop its pending deliveries.

    The change takes effect within a minute.
    """
    found = find_workflow(account, workflow)
    changed = set_workflow_enabled(account, found.id, enabled=False)
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
        str | None,
        typer.Option(
            help="The action's key or id, or the beginning of one. Default: the first action."
        ),
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
