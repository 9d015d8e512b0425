"""Size limits of AWS that the emulator does not enforce."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

LAMBDA_BYTES: Final = 6_291_556
"""Maximum size in bytes of the JSON of a request, or of a response, of a synchronous invocation."""
GATEWAY_BYTES: Final = 10 * 1024 * 1024
"""Maximum size in bytes of a request body that API Gateway accepts."""

INVOCATION_PATH: Final = re.compile(r"/2015-03-31/functions/[^/]+/invocations")


@dataclass(frozen=True)
class AwsError:
    """An error response of an AWS service.

    Attributes:
        code: the error code.
        fields: additional fields of the response body.
    """

    code: str
    message: str
    status: int = 400
    fields: Mapping[str, object] = field(default_factory=dict)


def invocation_error(size_bytes: int) -> AwsError | None:
    """Return the error of an invocation whose payload is too large, or None."""
    if size_bytes <= LAMBDA_BYTES:
        return None
    return AwsError(
        "RequestEntityTooLargeException",
        f"{size_bytes} byte payload is too large for the RequestResponse invocation type"
        f" (limit {LAMBDA_BYTES} bytes)",
        status=413,
    )


def is_too_large_for_function(event: Mapping[str, Any], body: bytes) -> bool:
    """Return whether the gateway rejects a request because the body or the event is too large.

    The event is the Lambda event that the gateway builds from the request.
    """
    return (
        len(body) > GATEWAY_BYTES
        or len(json.dumps(event, ensure_ascii=False).encode(errors="replace")) > LAMBDA_BYTES
    )


def limited_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an invocation, or an error result if the response is too large.

    The Python 3.11 runtime escapes non-ASCII characters, so a Cyrillic letter takes six bytes.
    """
    if result.get("error") or len(json.dumps(result.get("body"))) <= LAMBDA_BYTES:
        return result
    return result | {
        "error": True,
        "function_error": "Unhandled",
        "body": {
            "errorType": "Function.ResponseSizeTooLarge",
            "errorMessage": "Response payload size exceeded maximum allowed payload size"
            f" ({LAMBDA_BYTES} bytes).",
        },
    }
