"""Size limits of AWS that the emulator does not enforce."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

LAMBDA_BYTES: Final = 6_291_556
"""Maximum size in bytes of the JSON of a request, or of a response, of a synchronous invocation."""
ASYNCHRONOUS_BYTES: Final = 256 * 1024
"""Maximum size in bytes of an asynchronous invocation, an SQS message or a batch of SQS messages.

AWS has raised this limit to 1 MB. The service still stays below the earlier limit.
"""
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


def invocation_error(invocation_type: str, size_bytes: int) -> AwsError | None:
    """Return the error of an invocation whose payload is too large, or None."""
    limit = ASYNCHRONOUS_BYTES if invocation_type == "Event" else LAMBDA_BYTES
    if size_bytes <= limit:
        return None
    return AwsError(
        "RequestEntityTooLargeException",
        f"{size_bytes} byte payload is too large for the {invocation_type} invocation type"
        f" (limit {limit} bytes)",
        status=413,
    )


def message_error(operation: str, request: Mapping[str, Any]) -> AwsError | None:
    """Return the error of an SQS operation whose messages are too large, or None."""
    if operation == "SendMessage" and _message_bytes(request) > ASYNCHRONOUS_BYTES:
        return AwsError(
            "InvalidParameterValue",
            "One or more parameters are invalid. Reason: Message must be shorter than"
            f" {ASYNCHRONOUS_BYTES} bytes.",
        )
    if operation == "SendMessageBatch":
        size_bytes = sum(_message_bytes(entry) for entry in request.get("Entries", []))
        if size_bytes > ASYNCHRONOUS_BYTES:
            return AwsError(
                "AWS.SimpleQueueService.BatchRequestTooLong",
                f"Batch requests cannot be longer than {ASYNCHRONOUS_BYTES} bytes."
                f" You have sent {size_bytes} bytes.",
            )
    return None


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


def _message_bytes(message: Mapping[str, Any]) -> int:
    attributes = message.get("MessageAttributes") or {}
    return len(str(message.get("MessageBody", "")).encode(errors="replace")) + sum(
        len(name) + len(str(value.get("DataType", ""))) + len(str(value.get("StringValue", "")))
        for name, value in attributes.items()
    )
