"""Entry point of ``python -m admin``."""

from admin.main import app

app(prog_name="python -m admin")
