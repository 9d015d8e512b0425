"""Check files of definitions, and compare them with saved definitions, without saving anything."""

from pathlib import Path
from typing import Annotated, Any

import typer

from admin.commands.load import StoredResources, number_of, show_warnings
from admin.definitions.check import check
from admin.definitions.compare import differences
from admin.definitions.definition import Definition, Kind
from admin.definitions.files import read_files
from admin.definitions.plain_yaml import write_yaml
from admin.terminal import notices, prints_json, results, show_json, show_record

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A YAML, JSON or JSON Lines file.",
        exists=True,
        dir_okay=False,
        readable=True,
    ),
]


def check_file(kind: Kind, file: Path, account: str | None) -> None:
    """Validate the definitions in a file. Print the errors and, if any, exit with status 1."""
    definitions = _valid_definitions(kind, file, account, StoredResources())
    show_warnings(definitions)
    count = sum(definition.kind is kind for definition in definitions)
    notices().print(f"Valid: {number_of(count, kind.word)}. Nothing was saved.")
    show_record({"valid": count, "errors": []})


def diff_file(kind: Kind, file: Path, account: str | None) -> None:
    """Compare a file with the saved definitions. Print the diff and, if any, exit with status 1."""
    known = StoredResources()
    definitions = _valid_definitions(kind, file, account, known)
    lines = list(differences(kind, definitions, known))
    if prints_json():
        show_json({"diff": lines})
    for line in [] if prints_json() else lines:
        results().print(line)
    if lines:
        raise typer.Exit(1)
    notices().print("No differences.")


def print_definition(definition: dict[str, Any]) -> None:
    """Print a definition as YAML or, with ``--json``, as JSON."""
    show_record(definition, write_yaml(definition).rstrip("\n"))


def _valid_definitions(
    kind: Kind, file: Path, account: str | None, known: StoredResources
) -> list[Definition]:
    raw_definitions, unreadable = read_files([file])
    definitions, problems = check(raw_definitions, account, known, unreadable)
    errors = [str(problem) for problem in problems]
    if not errors and not any(definition.kind is kind for definition in definitions):
        errors = [f"{file}: Contains no definition of the kind {kind.value}."]
    if errors:
        for error in errors:
            notices().print(error)
        show_record({"valid": 0, "errors": errors})
        raise typer.Exit(1)
    return definitions
