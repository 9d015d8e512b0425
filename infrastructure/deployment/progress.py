"""Print the progress of a deployment: one line per step, with its duration."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class DeploymentError(Exception):
    """A deployment failed. The message is one line and says what to do."""


@dataclass
class Step:
    """A running step; ``outcome`` is printed next to its name at the end."""

    outcome: str = ""


@contextmanager
def step(name: str) -> Iterator[Step]:
    """Show a step while it runs, then print its outcome and duration."""
    started = time.monotonic()
    current = Step()
    with console.status(f"{name} …"):
        yield current
    note = f": {current.outcome}" if current.outcome else ""
    took_s = time.monotonic() - started
    console.print(f"[green]✓[/green] {name}{note} [dim]({took_s:.1f} s)[/dim]")


def fail(message: str) -> int:
    """Print one line about a failure and return its exit status."""
    errors.print(f"[red]✗[/red] {message}")
    return 1
