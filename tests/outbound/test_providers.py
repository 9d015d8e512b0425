"""Tests of the meaning of each SES and SNS error, and of clients that make one attempt."""

import inspect
from collections.abc import Iterator
from typing import Any

import botocore.exceptions
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
    RecipientNotVerified,
    RecipientOptedOut,
    SendingError,
)
from chalicelib.outbound import providers
from chalicelib.outbound.providers import provider_client, sending_error, sending_errors
from chalicelib.outbound.text_messages import send_text_message
from chalicelib.time_limits import MAX_SEND_S

RECIPIENT = "zoe@example.com"
UNKNOWN = {
    # The connection was open, so the request may have been received.
    "ConnectionClosedError",
    "HTTPClientError",
    "IncompleteReadError",
    "ReadTimeoutError",
    "ResponseStreamingError",
    "SSLError",
}
REJECTED_CODES = {
    "EndpointDisabled",
    "InvalidParameter",
    "InvalidParameterValue",
    "MessageRejected",
    "NotFound",
    "PlatformApplicationDisabled",
    "ParameterValueInvalid",
    "ValidationException",
}
"""Documented errors that reject the message, or that cannot occur."""
KMS_CODES = {
    "KMSAccessDenied",
    "KMSDisabled",
    "KMSInvalidState",
    "KMSNotFound",
    "KMSOptInRequired",
    "KMSThrottling",
}
"""Errors of topics with encryption. Messages to phone numbers use no topic."""


@pytest.fixture(autouse=True)
def fresh_clients() -> Iterator[None]:
    providers.forget_clients()
    yield
    providers.forget_clients()


def response_error(code: str, status: int) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "zoe@example.com is invalid"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "SendRawEmail")


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("MessageRejected", 400, MessageRejected),
        ("InvalidParameterValue", 400, MessageRejected),
        ("InvalidParameter", 400, MessageRejected),
        ("ValidationError", 400, MessageRejected),
        ("NeverSeenBefore", 400, MessageRejected),
        ("Throttling", 400, MessageNotSent),
        ("Throttled", 429, MessageNotSent),
        ("NeverSeenBefore", 429, MessageNotSent),
        ("Throttling", 503, MessageNotSent),
        ("LimitExceeded", 400, MessageNotSent),
        ("AccountSendingPausedException", 400, MessageNotSent),
        ("MailFromDomainNotVerifiedException", 400, MessageNotSent),
        ("ConfigurationSetDoesNotExist", 400, MessageNotSent),
        ("AccessDenied", 403, MessageNotSent),
        ("AuthorizationError", 403, MessageNotSent),
        ("ExpiredToken", 403, MessageNotSent),
        ("RequestTimeout", 408, OutcomeUnknown),
        ("InternalFailure", 500, OutcomeUnknown),
        ("InternalError", 500, OutcomeUnknown),
        ("ServiceUnavailable", 503, OutcomeUnknown),
        ("", 502, OutcomeUnknown),
    ],
)
def test_error_response_determines_outcome(
    code: str, status: int, expected: type[SendingError]
) -> None:
    error = sending_error(response_error(code, status), RECIPIENT)
    assert type(error) is expected
    assert error.reason == (code or str(status))
    assert "zoe@example.com" not in str(error)


def rejection(code: str, text: str) -> ClientError:
    error = response_error(code, 400)
    error.response["Error"]["Message"] = text
    return error


NOT_VERIFIED = (
    "Email address is not verified. The following identities failed the check in region EU-WEST-1:"
)


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("MessageRejected", f"{NOT_VERIFIED} {RECIPIENT}", RecipientNotVerified),
        (
            "MessageRejected",
            f"{NOT_VERIFIED} a@b.example, {RECIPIENT.upper()}",
            RecipientNotVerified,
        ),
        ("MessageRejected", f"{NOT_VERIFIED} surveys@feedback.example", MessageRejected),
        ("MessageRejected", f"{NOT_VERIFIED} another-{RECIPIENT}", MessageRejected),
        ("MessageRejected", f"Invalid content: {RECIPIENT}", MessageRejected),
        ("InvalidParameter", "Invalid parameter: phone number is opted out", RecipientOptedOut),
        ("OptedOutException", "", RecipientOptedOut),
        ("InvalidParameter", "Invalid parameter: not valid to publish to", MessageRejected),
    ],
)
def test_rejection_of_recipient_determines_outcome(
    code: str, text: str, expected: type[SendingError]
) -> None:
    assert type(sending_error(rejection(code, text), RECIPIENT)) is expected


@pytest.mark.parametrize("service", ["ses", "sns"])
def test_every_documented_error_of_sending_has_known_outcome(service: str) -> None:
    operation = {"ses": "SendRawEmail", "sns": "Publish"}[service]
    model = get_session().get_service_model(service).operation_model(operation)
    for shape in model.error_shapes:
        code = shape.metadata.get("error", {}).get("code", shape.name)
        status = shape.metadata.get("error", {}).get("httpStatusCode", 400)
        if code in KMS_CODES:
            continue
        error = sending_error(response_error(code, status), RECIPIENT)
        if code in REJECTED_CODES:
            assert type(error) is MessageRejected, code
        elif status >= 500:
            assert type(error) is OutcomeUnknown, code
        else:
            assert type(error) is MessageNotSent, code


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for _, kind in inspect.getmembers(botocore.exceptions, inspect.isclass)
        if issubclass(kind, BotoCoreError)
    ],
    ids=lambda kind: kind.__name__,
)
def test_error_of_open_connection_has_unknown_outcome(kind: type[BotoCoreError]) -> None:
    error = kind.__new__(kind)
    expected = OutcomeUnknown if kind.__name__ in UNKNOWN else MessageNotSent
    assert type(sending_error(error, RECIPIENT)) is expected


@pytest.mark.parametrize("error", [ValueError("no XML"), OSError(), RuntimeError()])
def test_unexpected_exception_while_sending_has_unknown_outcome(error: Exception) -> None:
    with pytest.raises(OutcomeUnknown), sending_errors(RECIPIENT):
        raise error


def test_sending_error_is_raised_unchanged() -> None:
    with pytest.raises(MessageRejected, match="invalid address"), sending_errors(RECIPIENT):
        raise MessageRejected("invalid address")


@pytest.mark.parametrize("status", [400, 500, 503])
def test_failed_request_is_sent_only_once(status: int) -> None:
    class Empty:
        def stream(self, **_: Any) -> Iterator[bytes]:
            yield b"<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>"

    provider_client("sns").meta.events.register_first(
        "before-send.*.*",
        lambda request, **_: AWSResponse(request.url, status, HTTPHeaders(), Empty()),
    )
    with counted_calls() as calls, pytest.raises(MessageNotSent):
        send_text_message("+33612345678", "Hello")
    assert calls == {"sns.Publish": 1}


def test_client_has_time_limits_for_one_attempt() -> None:
    config = provider_client("ses").meta.config
    assert config.retries["total_max_attempts"] == 1
    assert config.connect_timeout + config.read_timeout == MAX_SEND_S


@pytest.mark.parametrize(("idle_s", "closed"), [(4.9, False), (5.1, True), (-1.0, True)])
def test_idle_connections_are_closed(
    monkeypatch: pytest.MonkeyPatch, idle_s: float, closed: bool
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(providers.time, "time", lambda: now)
    client = provider_client("ses")
    closings: list[str] = []
    monkeypatch.setattr(client, "close", lambda: closings.append("closed"))
    now += idle_s
    assert provider_client("ses") is client
    assert bool(closings) is closed
