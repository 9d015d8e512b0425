"""A request that is measured, and what DynamoDB answers while it is served."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer of DynamoDB.

    Attributes:
        operation: ``GetItem``, for example.
        table: the table that was asked.
        body: the answer's bytes, as text.
    """

    operation: str
    table: str
    body: str


@dataclass(frozen=True)
class RecordedRequest:
    """One request, as the gateway hands it to a function, and all that answering it takes.

    Attributes:
        answers: DynamoDB's answers, those that are held included; no two are of the same operation
            and table.
    """

    name: str
    event: dict[str, Any]
    answers: tuple[RecordedAnswer, ...]


def write_recording(file: Path, requests: list[RecordedRequest]) -> None:
    """Keeps requests in a file."""
    file.write_text(json.dumps([asdict(request) for request in requests]))


def read_recording(file: Path) -> list[RecordedRequest]:
    """The requests in a file."""
    return [
        RecordedRequest(
            entry["name"],
            entry["event"],
            tuple(RecordedAnswer(**answer) for answer in entry["answers"]),
        )
        for entry in json.loads(file.read_text())
    ]
