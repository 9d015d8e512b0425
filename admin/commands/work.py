"""The command ``work``: list and replay parked work."""

from typing import Annotated

import typer

from admin.commands.account import id_argument
from admin.terminal import notices, show_table
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.work.parked import list_parked_work, replay

app = typer.Typer(help="List and replay parked work.", no_args_is_help=True)


@app.command("list")
def list_work() -> None:
    """List up to 100 parked work records of all accounts, the earliest parked first."""
    show_table(
        ["Kind", "Account", "Id", "Part", "Failures", "Reason", "Parked"],
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
        str,
        typer.Argument(
            metavar="ID", help="The id of the import, feedback or delivery.", parser=id_argument
        ),
    ],
    part: Annotated[
        str | None,
        typer.Argument(
            metavar="PART", help="The part of the work to replay. Default: all parked parts."
        ),
    ] = None,
) -> None:
    """Reset the failure count of parked work and queue it again."""
    notices().print(f"Requeued: {replay(owner_id, part)}.")
