"""Read JSON documents and JSON lines, with errors for operators."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from chalicelib.domain.parsing import DuplicateProperty, json_object


class InvalidJson(Exception):
    """A text is not valid JSON. The message states the reason in one sentence.

    Attributes:
        line: the number of the line, from 1; None if it is not known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_json(text: str) -> Any:
    """Parse a JSON document.

    Raises:
        InvalidJson: the text is not valid JSON, or an object has a property twice.
    """
    try:
        return json.loads(text, object_pairs_hook=json_object)
    except json.JSONDecodeError as error:
        raise InvalidJson(f"Invalid JSON: {error.msg}.", error.lineno) from None
    except DuplicateProperty as error:
        raise InvalidJson(str(error)) from None
    except ValueError:
        raise InvalidJson("Contains a number with too many digits.") from None
    except RecursionError:
        raise InvalidJson("Nested too deeply.") from None


def json_lines(lines: Iterable[str]) -> Iterator[tuple[int, Any, str]]:
    """Yield the number, the content and the error of each line that is not empty.

    The number is from 1. The error is ``""`` if the line is valid.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, parse_json(line), ""
            except InvalidJson as error:
                yield number, None, str(error)
