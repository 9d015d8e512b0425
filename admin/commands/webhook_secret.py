"""``webhook-secret``: the secret that an account's webhooks are signed with."""

from datetime import datetime
from typing import Annotated

import typer

from admin.commands.account import AccountArgument
from admin.terminal import notices, results
from chalicelib.domain.schema import format_timestamp, parse_timestamp
from chalicelib.services.webhooks.secret import rotate_webhook_secret

app = typer.Typer(help="Secrets that webhooks are signed with.", no_args_is_help=True)


def _moment(text: str) -> datetime:
    moment = parse_timestamp(text)
    if moment is None:
        raise typer.BadParameter("An ISO 8601 date-time, such as 2026-11-20T10:00:00Z.")
    return moment


@app.callback()
def secrets() -> None:
    """Secrets that webhooks are signed with."""


@app.command()
def rotate(
    account: AccountArgument,
    at: Annotated[
        datetime | None,
        typer.Option(
            help="When it starts to sign, in place of now.", parser=_moment, metavar="TIME"
        ),
    ] = None,
) -> None:
    """Make a new secret, and print it, this one time. Until it starts, the earlier one signs.

    It takes the place of one that was to start later: within a minute that one signs no more.
    """
    new = rotate_webhook_secret(account, at)
    start = f"from {format_timestamp(at)} on" if at else "within a minute"
    if new.replaced:
        notices().print(f"It takes the place of what was to start later: {new.replaced}.")
    notices().print(f"The new secret signs {start}. It is shown only now:")
    results().print(new.secret)
