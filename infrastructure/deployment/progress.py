"""Print the progress of a deployment: one line per step, with its duration."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ProfileNotFound,
)
from rich.console import Console

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class DeploymentError(Exception):
    """A deployment failed. The message is one line that explains the failure to the operator."""


@dataclass
class Step:
    """A deployment step in progress.

    Attributes:
        outcome: a short text that is printed next to the step's name when the step ends.
    """

    outcome: str = ""


@contextmanager
def step(name: str) -> Iterator[Step]:
    """Show the name of a step during the ``with`` block, then print its outcome and duration."""
    started = time.monotonic()
    current = Step()
    with console.status(f"{name} …"):
        yield current
    note = f": {current.outcome}" if current.outcome else ""
    duration_s = time.monotonic() - started
    console.print(f"[green]✓[/green] {name}{note} [dim]({duration_s:.1f} s)[/dim]")


@contextmanager
def aws_errors() -> Iterator[None]:
    """Raise an AWS error of the ``with`` block as a `DeploymentError`."""
    try:
        yield
    except (NoCredentialsError, NoRegionError, ProfileNotFound) as error:
        raise DeploymentError(
            f"Set AWS credentials and a region (AWS_PROFILE, AWS_DEFAULT_REGION): {error}"
        ) from error
    except (BotoCoreError, ClientError) as error:
        raise DeploymentError(f"AWS returned an error: {error}") from error


def fail(message: str) -> int:
    """Print an error message and return the exit status 1."""
    errors.print(f"[red]✗[/red] {message}")
    return 1
