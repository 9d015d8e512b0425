"""The log: JSON lines through Powertools, without secrets and request bodies."""

import json
from typing import Any, Final

from aws_lambda_powertools import Logger
from pydantic_core import to_json


def _serialize(line: dict[str, Any]) -> str:
    try:
        return to_json(line, fallback=str).decode()
    except ValueError:  # a string with a lone surrogate, for example in an exception's message
        return json.dumps(line, default=str)


logger: Final = Logger(
    service="feedback",
    location=None,
    utc=True,
    use_rfc3339=True,
    json_serializer=_serialize,
    json_deserializer=str,  # log a message that looks like JSON as text
)
