"""The results of the checks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib import __version__


class Skipped(Exception):
    """A check does not apply to the stage, or cannot run. The message is the reason."""


@dataclass(frozen=True)
class Problem:
    """A difference between the deployed stage and its expected state.

    Attributes:
        resource: the name of the resource, for example of a table.
        detail: the difference, in one sentence.
        fix: how to remove the difference.
    """

    resource: str
    detail: str
    fix: str


@dataclass(frozen=True)
class Report:
    """The results of all checks.

    Attributes:
        version: the version of the product that the stage is compared with.
        passed: the names of the checks that found no problem.
        skipped: the reasons for the checks that did not run, by name.
        problems: the problems by name of the check.
    """

    version: str = __version__
    passed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    problems: dict[str, list[Problem]] = field(default_factory=dict)

    @property
    def problem_count(self) -> int:
        """The number of problems that all checks found."""
        return sum(map(len, self.problems.values()))


def missing(names: Iterable[str], deployed: Mapping[str, Any], fix: str) -> Iterator[Problem]:
    """Yield a problem for each name that is not deployed."""
    for name in names:
        if name not in deployed:
            yield Problem(name, "Does not exist.", fix)


def differences(
    resource: str, expected: Mapping[str, Any], deployed: Mapping[str, Any], fix: str
) -> Iterator[Problem]:
    """Yield a problem for each expected property whose deployed value differs."""
    for name, value in expected.items():
        if deployed.get(name) != value:
            yield Problem(resource, f"{name} is {deployed.get(name)}, expected {value}.", fix)
