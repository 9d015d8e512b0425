"""``work``: work that was given up after too many tries, and sending it back."""

from typing import Annotated

import typer

from admin.commands.account import id_argument
from admin.terminal import notices, show_table
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.work.parked import list_parked_work, replay

app = typer.Typer(help="Work that was given up.", no_args_is_help=True)


@app.command("list")
def list_work() -> None:
    """List parked work of every account, the longest waiting first, at most 100."""
    show_table(
        ["Kind", "Account", "Id", "Part", "Tries", "Reason", "Parked"],
        [
            [
                work.kind,
                work.account_id,
                work.owner_id,
                work.part,
                str(work.claims),
                work.reason,
                format_timestamp(work.parked_at),
            ]
            for work in list_parked_work()
        ],
    )


@app.command("replay")
def replay_work(
    owner_id: Annotated[
        str, typer.Argument(metavar="ID", help="The work's id.", parser=id_argument)
    ],
    part: Annotated[
        str | None,
        typer.Argument(metavar="PART", help="One part of it, in place of every parked one."),
    ] = None,
) -> None:
    """Open parked work again, with all its tries, and queue it."""
    notices().print(f"Queued again: {replay(owner_id, part)}.")
