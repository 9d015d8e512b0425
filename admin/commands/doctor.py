"""The command ``doctor``: check the deployed stage."""

import typer

from admin.terminal import prints_json, progress, results, show_json
from chalicelib.settings import settings


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
