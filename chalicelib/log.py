"""The log: JSON lines through Powertools, and metrics in them. No secret and no body goes in."""

import json
import time
from typing import Any, Final

from aws_lambda_powertools import Logger
from pydantic_core import to_json

from chalicelib.settings import settings


def namespace() -> str:
    """The CloudWatch namespace of this stage's metrics."""
    return f"feedback-{settings().stage}"


def _serialize(line: dict[str, Any]) -> str:
    try:
        return to_json(line, fallback=str).decode()
    except ValueError:  # a text that is no Unicode, in an exception's message for example
        return json.dumps(line, default=str)


logger: Final = Logger(
    service="feedback",
    location=None,
    utc=True,
    use_rfc3339=True,
    json_serializer=_serialize,
    json_deserializer=str,  # a message is words, never JSON to be read
)


def embedded_metrics(description: list[dict[str, Any]]) -> dict[str, Any]:
    """The key that makes CloudWatch read metrics from a log line (embedded metric format)."""
    return {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": description}
