"""Tests of the size limits of Lambda functions and of the gateway."""

import asyncio
from typing import Any

import pytest

from infrastructure.local_cloud.strict.limits import (
    GATEWAY_BYTES,
    LAMBDA_BYTES,
    is_too_large_for_function,
    limited_result,
    with_limited_payload,
)


@pytest.mark.parametrize(("letter", "escaped_bytes"), [("x", 1), ("я", 6), ('"', 2), ("😀", 12)])
def test_json_escaped_response_over_lambda_limit_is_rejected(
    letter: str, escaped_bytes: int
) -> None:
    envelope_bytes = len('{"body": ""}')
    longest = letter * ((LAMBDA_BYTES - envelope_bytes) // escaped_bytes)
    accepted = {"body": {"body": longest}, "log": "line"}
    assert limited_result(accepted) is accepted
    rejected = limited_result({"body": {"body": longest + letter}, "log": "line"})
    assert rejected["error"]
    assert rejected["body"]["errorType"] == "Function.ResponseSizeTooLarge"
    assert rejected["log"] == "line"


def test_function_error_over_6_mb_is_returned_unchanged() -> None:
    failed = {"error": True, "body": {"errorMessage": "x" * (LAMBDA_BYTES + 1)}}
    assert limited_result(failed) is failed


def test_gateway_request_over_10_mb_or_with_event_over_6_mb_is_rejected() -> None:
    assert not is_too_large_for_function({"body": "x" * (LAMBDA_BYTES - 12)}, b"")
    assert is_too_large_for_function({"body": "x" * (LAMBDA_BYTES - 11)}, b"")
    assert not is_too_large_for_function({"body": ""}, b"x" * GATEWAY_BYTES)
    assert is_too_large_for_function({"body": ""}, b"x" * (GATEWAY_BYTES + 1))


def test_each_quote_in_request_body_counts_as_two_bytes() -> None:
    assert is_too_large_for_function({"body": '"' * (LAMBDA_BYTES // 2)}, b"")


@pytest.mark.parametrize(("size_bytes", "status"), [(LAMBDA_BYTES, 202), (LAMBDA_BYTES + 1, 413)])
def test_invocation_payload_over_limit_is_rejected(size_bytes: int, status: int) -> None:
    async def invoke(*_: Any) -> Any:
        return 202, {}, b""

    path = "/2015-03-31/functions/feedback-local-sweep/invocations"
    response = with_limited_payload(invoke)("POST", path, {}, b"x" * size_bytes, {})
    assert asyncio.run(response)[0] == status
