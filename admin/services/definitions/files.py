"""Read definitions from YAML, JSON and JSON Lines files."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import yaml

from admin.domain.json_lines import InvalidJson, json_lines, parse_json
from admin.services.definitions.definition import Problem, RawDefinition
from admin.services.definitions.plain_yaml import PlainLoader, read_yaml
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.suggestions import pointer_steps

MAX_LOCATED: Final = 1_000_000
"""Maximum number of characters of a file in which lines are located: a few seconds of parsing."""


class _NotReadable(Exception):
    """The rest of a file cannot be read. The message states the reason in one sentence."""


def read_files(paths: Iterable[Path]) -> tuple[list[RawDefinition], list[Problem]]:
    """Return the definitions in all files, in order, and a problem for each unreadable file."""
    definitions: list[RawDefinition] = []
    problems: list[Problem] = []
    for path in paths:
        number = 0
        try:
            for content in _contents(path):
                number += 1
                origin = f"{path}, definition {number}"
                definitions.append(RawDefinition(origin, content, partial(_line, path, number)))
        except _NotReadable as error:
            origin = f"{path}, after definition {number}" if number else str(path)
            problems.append(Problem(origin, InputError("", "not_readable", str(error))))
        else:
            if not number:
                detail = "Contains no definition."
                problems.append(Problem(str(path), InputError("", "empty", detail)))
    return definitions, problems


def _line(path: Path, number: int, pointer: str) -> int | None:
    """Return the line of a JSON pointer into a definition of a YAML or JSON file.

    If the property is missing, return the line of the object that lacks it.
    """
    nodes = _nodes(path)
    if len(nodes) < number:
        return None
    node, line = nodes[number - 1], nodes[number - 1].start_mark.line
    for step in pointer_steps(pointer):
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(step)]
            line = node.start_mark.line
        elif isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == step]
            if not found:
                break
            line, node = found[-1][0].start_mark.line, found[-1][1]
    return line + 1


@cache
def _nodes(path: Path) -> list[yaml.Node]:
    """Parse a file again, and return the YAML node of each definition. JSON is YAML too."""
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return []
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if len(text) > MAX_LOCATED:
            return []
        documents = list(yaml.compose_all(text, PlainLoader))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return []
    nodes: list[yaml.Node] = []
    for document in documents:
        if isinstance(document, yaml.SequenceNode):
            nodes += document.value
        elif document.tag != "tag:yaml.org,2002:null":
            nodes.append(document)
    return nodes


def _contents(path: Path) -> Iterator[Any]:
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise _NotReadable(f"Unknown file type (allowed: {', '.join(_READERS)}).")
    try:
        yield from read(path.read_bytes().decode("utf-8-sig"))
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _NotReadable(f"Invalid YAML: {line}{error.problem}.") from None
    except yaml.YAMLError as error:
        raise _NotReadable(f"Invalid YAML: {str(error).splitlines()[0]}.") from None
    except InvalidJson as error:
        raise _NotReadable(f"Line {error.line}: {error}" if error.line else str(error)) from None
    except UnicodeDecodeError:
        raise _NotReadable("Invalid UTF-8.") from None
    except ValueError:
        raise _NotReadable("Invalid YAML.") from None
    except RecursionError:
        raise _NotReadable("Nested too deeply.") from None
    except OSError as error:
        raise _NotReadable(f"Cannot read the file: {error.strerror}.") from None


def _yaml(text: str) -> Iterator[Any]:
    for document in read_yaml(text):
        if document is not None:
            yield from document if isinstance(document, list) else [document]


def _json(text: str) -> Iterator[Any]:
    document = parse_json(text)
    yield from document if isinstance(document, list) else [document]


def _json_lines(text: str) -> Iterator[Any]:
    # In JSON, a carriage return is white space and does not end a line.
    for number, content, error in json_lines(text.split("\n")):
        if error:
            raise InvalidJson(error, number)
        yield content


_READERS: Final[dict[str, Callable[[str], Iterator[Any]]]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
