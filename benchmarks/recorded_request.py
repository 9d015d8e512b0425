"""A recorded request with the responses of DynamoDB that serving it takes."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RecordedAnswer:
    """One response of DynamoDB.

    Attributes:
        operation: for example ``GetItem``.
        table: the table of the request.
        body: the bytes of the response, as text.
    """

    operation: str
    table: str
    body: str


@dataclass(frozen=True)
class RecordedRequest:
    """One gateway event and the DynamoDB responses that serving it takes.

    Attributes:
        answers: DynamoDB's responses, including those that are cached later; each combination of
            operation and table occurs once.
    """

    name: str
    event: dict[str, Any]
    responses: tuple[RecordedAnswer, ...]


def write_recording(file: Path, requests: list[RecordedRequest]) -> None:
    """Write requests to a file."""
    file.write_text(json.dumps([asdict(request) for request in requests]))


def read_recording(file: Path) -> list[RecordedRequest]:
    """Read the requests of a file."""
    return [
        RecordedRequest(
            entry["name"],
            entry["event"],
            tuple(RecordedAnswer(**response) for response in entry["answers"]),
        )
        for entry in json.loads(file.read_text())
    ]
