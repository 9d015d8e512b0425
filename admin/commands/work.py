"""The command ``work``: list and replay parked work."""

from datetime import datetime
from typing import Annotated

import typer

from admin.options import WideOption, example, id_argument, id_option, time_option
from admin.services.work.parked import list_parked_work, replay, replay_matching
from admin.terminal import notices, progress, show_record, show_table
from chalicelib.services.work.kinds import ALL_WORK

_KINDS = [kind.records.kind for kind in ALL_WORK]

app = typer.Typer(help="List and replay parked work.", no_args_is_help=True)


def _kind_argument(text: str) -> str:
    if text not in _KINDS:
        raise typer.BadParameter(f"Must be one of: {', '.join(_KINDS)}.")
    return text


@app.command("list", epilog=example("work list"))
def list_work(_wide: WideOption = False) -> None:
    """List up to 100 parked work records of all accounts, the earliest parked first.

    Cost: one AWS request per kind of work, plus one per 100 parked records.
    """
    show_table(
        ["Kind", "Account", "Id", "Part", "Failures", "Reason", "Parked"],
        [
            [
                work.kind,
                work.account_id,
                work.owner_id,
                work.part,
                work.claims,
                work.reason,
                work.parked_at,
            ]
            for work in list_parked_work()
        ],
        wide=["Account", "Failures", "Parked"],
    )


@app.command(
    "replay", epilog=example("work replay ID", "work replay --kind webhook --since 2026-11-21")
)
def replay_work(
    owner_id: Annotated[
        str | None, id_argument("The id of the import, feedback or delivery.")
    ] = None,
    part: Annotated[
        str | None,
        typer.Argument(
            metavar="PART", help="The chunk of the import to replay. Default: all parked chunks."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help=f"Replay all parked work of this kind: {', '.join(_KINDS)}.",
            parser=_kind_argument,
        ),
    ] = None,
    account: Annotated[
        str | None, id_option("Replay all parked work of this account.", "ACCOUNT")
    ] = None,
    since: Annotated[
        datetime | None,
        time_option("Replay all work that was parked at or after this time (UTC)."),
    ] = None,
) -> None:
    """Reset the failure count of parked work and queue the work again.

    Select one record by its id, or all records that match the options. If several options are set,
    a record must match all of them.
    """
    has_filter = (kind, account, since) != (None, None, None)
    if has_filter == (owner_id is not None):
        raise typer.BadParameter("Provide either an id or at least one of the options.")
    if owner_id:
        replayed = replay(owner_id, part)
    else:
        with progress("Replaying parked work") as advance:
            replayed = replay_matching(kind, account, since, advance)
    notices().print(f"Requeued: {replayed}.")
    show_record({"requeued": replayed})
