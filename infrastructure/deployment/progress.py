"""What a person sees of a deployment: one line a step, with how long it took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class DeploymentError(Exception):
    """Something did not work; the message is one line that says what to do about it."""


@dataclass
class Step:
    """A step under way; ``outcome`` is shown beside its name when it ends."""

    outcome: str = ""


@contextmanager
def step(name: str) -> Iterator[Step]:
    """Show a step while it runs, and its outcome and duration after it."""
    started = time.monotonic()
    current = Step()
    with console.status(f"{name} …"):
        yield current
    note = f": {current.outcome}" if current.outcome else ""
    took_s = time.monotonic() - started
    console.print(f"[green]✓[/green] {name}{note} [dim]({took_s:.1f} s)[/dim]")


def fail(message: str) -> int:
    """Print one line on what went wrong and answer the exit status that goes with it."""
    errors.print(f"[red]✗[/red] {message}")
    return 1
