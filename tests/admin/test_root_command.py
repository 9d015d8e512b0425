"""Test that the root command fits the version of Typer."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer

from admin.main import app


def parameters(group: Any) -> Iterator[Any]:
    """Yield the arguments and options of all commands."""
    for command in group.commands.values():
        yield from command.params
        if hasattr(command, "commands"):
            yield from parameters(command)


def test_typer_has_the_version_of_which_the_root_command_uses_undocumented_parts() -> None:
    assert version("typer") == "0.29.2"


def test_typer_validates_only_choices_ranges_and_paths() -> None:
    # `RootCommand` replaces the messages of pydantic for choices and ranges only.
    types = [parameter.type_descriptor for parameter in parameters(typer.main.get_command(app))]
    typed = [known for known in types if known.parameter_info.parser is None]
    other = [t for t in typed if not (t.choices or t.is_path or t.is_ranged)]
    assert {str(t.annotation) for t in other} == set(map(str, (bool, str, list[str], list[Path])))
    assert all(
        None not in (t.parameter_info.min, t.parameter_info.max) for t in typed if t.is_ranged
    )
