"""The commands ``stage``, ``status`` and ``doctor``: stop, restore, observe and check a stage."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from admin.identity import operator_identity
from admin.options import YesOption, example, time_option
from admin.services.erasure.replay import replay_erasures
from admin.services.repeat_changes import RepeatedChanges, repeat_changes
from admin.services.work.parked import read_status
from admin.terminal import (
    confirm,
    notices,
    prints_json,
    progress,
    results,
    show_json,
    show_record,
    show_table,
)
from chalicelib.domain.erasure.erasure import Erasure
from chalicelib.settings import settings

app = typer.Typer(help="Stop and start a stage, and restore its tables.", no_args_is_help=True)


@app.command(epilog=example("stage stop"))
def stop(yes: YesOption = False) -> None:
    """Stop all functions of the stage from writing, and wait until they have ended.

    Disables the event sources; messages stay in their queues for up to 14 days. The API and the
    sweeper get the reserved concurrency 0, so all requests get a 5xx response. The stage cannot be
    deployed until you start it again with stage start.

    Cost: about two AWS requests per function.
    """
    from infrastructure.restore import stop_writers

    stage = settings().stage
    confirm(lambda: f"Stop the API and all functions of the stage {stage}?", is_confirmed=yes)
    stop_writers(stage)
    notices().print("Stopped. Start the stage again with stage start.")


@app.command(epilog=example("stage start"))
def start() -> None:
    """Start all functions that stage stop has stopped.

    Enables the event sources, and sets or removes the reserved concurrency of the API and of the
    sweeper, as infrastructure/functions.py says. If a restore failed, repeat the restore first.

    Cost: about two AWS requests per function.
    """
    from infrastructure.restore import start_writers

    start_writers(settings().stage)
    notices().print("Started.")


@app.command(epilog=example("stage restore --to 2026-11-20T10:00:00Z"))
def restore(
    to: Annotated[
        datetime,
        time_option("The time to restore."),
    ],
    yes: YesOption = False,
) -> None:
    """Reset all tables to a time, except those with erasures, contacts and account changes.

    Stop the stage first: the command fails while functions can write. Before the first table is
    replaced, the command asks for confirmation; check samples of the temporary tables then. After a
    failure, repeat the command with the same time. The command repeats the recorded erasures,
    revocations of keys and closings of accounts, and lists the keys to issue and the webhook
    secrets to rotate again. Start the stage afterwards with stage start.

    Cost: about 15 AWS requests per table, and the storage of each table and its backup.
    """
    from infrastructure.restore import AcceptsWrites, Restore, Step, require_no_writes

    stage = settings().stage
    try:
        require_no_writes(stage)
    except AcceptsWrites as error:
        raise typer.BadParameter(str(error), param_hint="--stage") from error
    plan = Restore(stage, to)
    changes: list[RepeatedChanges] = []
    erasures: list[Erasure] = []

    def repeat_recorded_changes() -> None:
        changes.append(repeat_changes(to, operator_identity()))

    def repeat_recorded_erasures() -> None:
        with progress("Reading records") as advance:
            erasures.extend(replay_erasures(advance))

    steps = plan.steps(
        [
            Step("Repeat the recorded revocations and closings", repeat_recorded_changes),
            Step("Repeat the recorded erasures", repeat_recorded_erasures),
        ]
    )
    example_name = plan.temporary(plan.tables[0])
    for number, step in enumerate(steps, 1):
        if step.is_final:
            confirm(
                lambda: (
                    f"Check samples of the temporary tables (such as {example_name}). Replace the"
                    f" tables of the stage {stage}? This cannot be undone."
                ),
                is_confirmed=yes,
            )
        notices().print(f"{number} of {len(steps)}: {step.title} …")
        step.run()
    (repeated,) = changes
    for key, account in repeated.lost_keys.items():
        notices().print(f"Issue again: the key {key} of the account {account}.")
    for account in repeated.rotated_secrets:
        notices().print(f"Rotate again: the webhook secret of the account {account}.")
    notices().print("Restored. Start the stage with stage start.")
    show_record(
        {
            "tables": plan.tables,
            "to": to.isoformat(),
            "repeatedErasures": len(erasures),
            "repeatedChanges": repeated,
        }
    )


def status() -> None:
    """Show the messages in the queues and the number of parked work records of the stage.

    The numbers are approximate and up to a minute old. The age of the oldest message comes from
    CloudWatch; the age is "-" if CloudWatch has no value for the last ten minutes.

    Cost: about 40 AWS requests: four per queue, one per kind of work, and one to CloudWatch.
    """
    queues, parked = read_status()
    if prints_json():
        show_json({"queues": queues, "parked": parked})
        return
    show_table(
        ["Queue", "Waiting", "In process", "Delayed", "Dead letters", "Oldest message (s)"],
        [
            ["-" if value is None else str(value) for value in asdict(queue).values()]
            for queue in queues
        ],
    )
    results().print()
    show_table(["Work", "Parked"], [[kind, str(n)] for kind, n in parked.items()])


def doctor() -> None:
    """Compare the deployed stage with the function manifest and the data template.

    Prints each problem and its fix. Exits with status 1 if there is a problem. A check that the
    emulator does not support is skipped.

    Cost: a few AWS requests per table, queue, function, role and log group of the stage. The
    command changes nothing.
    """
    from infrastructure.doctor.examine import CHECKS, examine, stage_named

    try:
        stage = stage_named(settings().stage)
    except KeyError:
        raise typer.BadParameter(
            f"infrastructure/functions.py has no stage {settings().stage!r}.", param_hint="--stage"
        ) from None
    with progress("Checking", len(CHECKS)) as advance:
        report = examine(stage, advance)
    if prints_json():
        show_json(report)
    else:
        for check, problems in report.problems.items():
            for problem in problems:
                results().print(f"{check}: {problem.resource}: {problem.detail}")
                results().print(f"  Fix: {problem.fix}")
        for check, reason in report.skipped.items():
            results().print(f"Skipped: {check}. {reason}")
        results().print(
            f"Stage {stage.name}, version {report.version}: {len(report.passed)} checks passed,"
            f" {len(report.skipped)} skipped, {report.problem_count} problems."
        )
    if report.problems:
        raise typer.Exit(1)
