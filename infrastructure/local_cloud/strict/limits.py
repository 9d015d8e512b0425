"""Size limits of AWS that the emulator does not enforce."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

LAMBDA_BYTES: Final = 6_291_556
"""Maximum size in bytes of the JSON of a request, or of a response, of a synchronous invocation."""
GATEWAY_BYTES: Final = 10 * 1024 * 1024
"""Maximum size in bytes of a request body that API Gateway accepts."""

Response = tuple[int, dict[str, str], bytes]
Handler = Callable[..., Awaitable[Response]]


def error_response(code: str, message: str, status: int = 400, **fields: object) -> Response:
    """Return the error response of an AWS service."""
    headers = {"Content-Type": "application/x-amz-json-1.0", "x-amzn-errortype": code}
    return status, headers, json.dumps({"__type": code, "message": message, **fields}).encode()


def with_limited_payload(handle: Handler) -> Handler:
    """Return a handler of requests to Lambda that rejects payloads that are too large."""

    async def handle_request(method: str, path: str, headers: Any, body: bytes, query: Any) -> Any:
        if path.endswith("/invocations") and len(body or b"") > LAMBDA_BYTES:
            return error_response(
                "RequestEntityTooLargeException",
                f"{len(body)} byte payload is too large for the RequestResponse invocation type"
                f" (limit {LAMBDA_BYTES} bytes)",
                413,
            )
        return await handle(method, path, headers, body, query)

    return handle_request


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
