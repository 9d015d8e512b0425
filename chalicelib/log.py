"""The logger of the service. It writes JSON lines with AWS Lambda Powertools.

Log lines must not contain secrets or request bodies.
"""

import json
from typing import Any, Final

from aws_lambda_powertools import Logger
from pydantic_core import to_json


def _serialize(line: dict[str, Any]) -> str:
    try:
        return to_json(line, fallback=str).decode()
    except ValueError:  # A string, for example an exception message, contains a lone surrogate.
        return json.dumps(line, default=str)


logger: Final = Logger(
    service="feedback",
    location=None,
    utc=True,
    use_rfc3339=True,
    json_serializer=_serialize,
    json_deserializer=str,  # By default, Powertools parses a message that is valid JSON.
)
