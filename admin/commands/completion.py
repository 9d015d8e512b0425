"""The command ``completion``: complete commands and options in the shell."""

from enum import StrEnum
from typing import Annotated, Final

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from admin.options import example
from admin.terminal import show_record

PROGRAM: Final = "feedback-admin"
"""The executable in the folder ``bin`` that runs the command line."""

COMPLETION_VARIABLE: Final = "_FEEDBACK_ADMIN_COMPLETE"
"""The environment variable with which the shell requests completions."""

app = typer.Typer(help="Complete commands in the shell.", no_args_is_help=True)


class Shell(StrEnum):
    """A shell with completion."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@app.command("show", epilog=example("completion show bash"))
def show_script(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="The shell.")],
) -> None:
    """Print the script that completes the commands of bin/feedback-admin.

    Cost: no AWS request.
    """
    script = get_completion_script(
        prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE, shell=shell.value
    )
    show_record({"script": script}, script)
