"""Entry point of ``python -m admin``."""

from typer.completion import completion_init  # type: ignore[attr-defined]

from admin.commands.completion import COMPLETION_VARIABLE
from admin.main import app

completion_init()
app(prog_name="python -m admin", complete_var=COMPLETION_VARIABLE)
