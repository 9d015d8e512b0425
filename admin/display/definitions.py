"""Display definitions."""

from collections import Counter
from typing import Any

from admin.services.definitions.definition import Kind
from admin.services.definitions.plain_yaml import write_yaml
from admin.terminal import show_record


def show_definition(definition: dict[str, Any]) -> None:
    """Print a definition as YAML or, with ``--json``, as JSON."""
    show_record(definition, write_yaml(definition).rstrip("\n"))


def count_list(counts: Counter[Kind]) -> str:
    """Format the number of definitions of each kind: ``2 stores, 1 survey``."""
    return ", ".join(number_of(counts[kind], kind.word) for kind in Kind if counts[kind])


def number_of(count: int, word: str) -> str:
    """Format a number with its noun in the singular or plural: ``2 stores``."""
    return f"{count} {word}{'' if count == 1 else 's'}"
