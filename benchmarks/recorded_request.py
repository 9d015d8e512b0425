"""Recorded gateway requests, with the DynamoDB responses that a contender needs to serve them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RecordedResponse:
    """One recorded response of DynamoDB.

    Attributes:
        operation: the DynamoDB operation, for example ``GetItem``.
        table: the table that the request reads or writes.
        body: the response body as text.
    """

    operation: str
    table: str
    body: str


@dataclass(frozen=True)
class RecordedRequest:
    """One gateway event, with the DynamoDB responses that a contender needs to serve it.

    Attributes:
        responses: one response for each combination of operation and table, including responses
            that a warm function has cached and does not request again.
    """

    name: str
    event: dict[str, Any]
    responses: tuple[RecordedResponse, ...]


def write_recording(file: Path, requests: list[RecordedRequest]) -> None:
    """Write the recorded requests to a JSON file."""
    file.write_text(json.dumps([asdict(request) for request in requests]))


def read_recording(file: Path) -> list[RecordedRequest]:
    """Read the recorded requests from a JSON file."""
    return [
        RecordedRequest(
            entry["name"],
            entry["event"],
            tuple(RecordedResponse(**response) for response in entry["responses"]),
        )
        for entry in json.loads(file.read_text())
    ]
