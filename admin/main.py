"""The commands of ``python -m admin`` and their common options."""

import os
import re
from typing import Annotated

import typer

from admin.commands import account as account_commands
from admin.commands import deliveries as delivery_commands
from admin.commands import key as key_commands
from admin.commands import purchase as purchase_commands
from admin.commands import solicitation as solicitation_commands
from admin.commands import support_email as support_email_commands
from admin.commands import webhook_secret as webhook_secret_commands
from admin.commands import work as work_commands
from admin.commands import workflow as workflow_commands
from admin.commands.demo import demo
from admin.commands.doctor import doctor
from admin.commands.load import load
from admin.commands.status import status
from admin.error_messages import OneLineErrors
from chalicelib.settings import settings

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.add_typer(account_commands.app, name="account")
app.add_typer(key_commands.app, name="key")
app.add_typer(workflow_commands.app, name="workflow")
app.add_typer(delivery_commands.app, name="deliveries")
app.add_typer(purchase_commands.app, name="purchase")
app.add_typer(solicitation_commands.app, name="solicitation")
app.add_typer(webhook_secret_commands.app, name="webhook-secret")
app.add_typer(work_commands.app, name="work")
app.add_typer(support_email_commands.app, name="support-email")
app.add_typer(support_email_commands.sender_app, name="mail-sender")
app.command()(load)
app.command()(demo)
app.command()(doctor)
app.command()(status)


@app.callback()
def choose_stage(
    stage: Annotated[
        str | None,
        typer.Option(help="The stage to use.  [env var: STAGE; default: local]"),
    ] = None,
) -> None:
    """Operate the service with your AWS credentials.

    The AWS account and region are configured as for the AWS command line. To use a local cloud, set
    the environment variable AWS_ENDPOINT_URL.
    """
    if stage is None:
        return
    if not re.fullmatch(r"[a-z][a-z0-9]{1,15}", stage):
        raise typer.BadParameter(
            "Must be 2 to 16 lower-case letters and digits, starting with a letter.",
            param_hint="--stage",
        )
    os.environ["STAGE"] = stage
    settings.cache_clear()
