"""The command ``webhook-secret``: rotate the secret that signs an account's webhooks."""

from datetime import datetime
from typing import Annotated

import typer

from admin.identity import operator_identity
from admin.options import AccountArgument, YesOption, example, time_option
from admin.services.accounts.manage import require_account
from admin.services.webhooks.secret import rotate_webhook_secret
from admin.terminal import confirm, notices, show_record
from chalicelib.domain.schema import format_timestamp

app = typer.Typer(help="Rotate webhook secrets.", no_args_is_help=True)


@app.command(epilog=example("webhook-secret rotate ACCOUNT --at 2026-11-20T10:00:00Z --yes"))
def rotate(
    account: AccountArgument,
    at: Annotated[
        datetime | None,
        time_option("The time at which the new secret becomes active. Default: now."),
    ] = None,
    yes: YesOption = False,
) -> None:
    """Create a webhook secret and print it. The secret cannot be shown again.

    The current secret signs webhooks until the new secret becomes active. Other secrets that are
    not active yet are deleted.

    Cost: four AWS requests; one more without --yes.
    """
    confirm(lambda: _question(account), is_confirmed=yes)
    new = rotate_webhook_secret(account, operator_identity(), at)
    start = f"at {format_timestamp(at)}" if at else "within a minute"
    if new.replaced:
        notices().print(f"Replaced secrets that were not active yet: {new.replaced}.")
    notices().print(f"The new secret becomes active {start}. It cannot be shown again:")
    show_record({"secret": new.secret, "activeFrom": at}, new.secret)


def _question(account: str) -> str:
    name = require_account(account).name
    return f"Replace the secret that signs the webhooks of the account {name}?"
