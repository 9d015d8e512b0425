"""Clients that send messages through SES and SNS, and the meaning of their errors.

A message must never be sent twice, so a client makes one attempt. An error means that the provider
rejected the message, that nothing was sent, or that the outcome is unknown.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    SSLError,
)

from chalicelib.aws_calls import client_config, create_client
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
    RecipientNotVerified,
    RecipientOptedOut,
    SendingError,
)
from chalicelib.time_limits import SEND_READ_TIMEOUT_S

_MAX_IDLE_S: Final = 5.0
"""The idle time after which connections are closed.

A connection can go stale while Lambda freezes the process. A request on a stale connection fails,
and it is unknown whether the provider received the request.
"""

_BUSY: Final = (
    "LimitExceeded LimitExceededException RequestLimitExceeded RequestThrottled SlowDown Throttled"
    " ThrottledException Throttling ThrottlingException TooManyRequestsException"
)
"""Error codes of exceeded rates and quotas."""

_MISCONFIGURED: Final = (
    "AccessDenied AccessDeniedException AccountSendingPausedException AuthorizationError"
    " AuthorizationErrorException ConfigurationSetDoesNotExist"
    " ConfigurationSetSendingPausedException ExpiredToken ExpiredTokenException"
    " IncompleteSignature InvalidAccessKeyId InvalidClientTokenId InvalidSecurity"
    " InvalidSecurityException MailFromDomainNotVerifiedException MissingAuthenticationToken"
    " OptInRequired RequestExpired RequestTimeTooSkewed SignatureDoesNotMatch"
    " UnrecognizedClientException"
)
"""Error codes of the stage's configuration: the message is sent after an operator corrects it."""

_NOT_SENT_CODES: Final = frozenset(f"{_BUSY} {_MISCONFIGURED}".split())
_AMBIGUOUS_ERRORS: Final = (HTTPClientError, IncompleteReadError, SSLError)
"""Errors of a connection that was open, so the request may have reached the provider.

If an error prevents a connection or a request, its class is another subclass of `BotoCoreError`.
"""

_OPTED_OUT: Final = "optedout"
"""A part of the error codes for phone numbers that opted out."""

_INVALID_NUMBER_CODES: Final = ("InvalidParameter", "InvalidParameterException")
"""The codes of SNS for phone numbers to which it sends no messages."""

_NOT_VERIFIED: Final = "address is not verified"

_last_use: Final[dict[str, float]] = {}


@contextmanager
def sending_errors(recipient: str) -> Iterator[None]:
    """Convert each error of the ``with`` block into one of the subclasses of `SendingError`.

    Args:
        recipient: the address of the recipient, as sent to the provider.
    """
    try:
        yield
    except SendingError:
        raise
    except Exception as error:
        raise sending_error(error, recipient) from error


def sending_error(error: Exception, recipient: str) -> SendingError:
    """Return the `SendingError` for an error of a client."""
    if isinstance(error, ClientError):
        return _response_error(error, recipient)
    name = type(error).__name__
    if isinstance(error, BotoCoreError) and not isinstance(error, _AMBIGUOUS_ERRORS):
        return MessageNotSent(name)
    return OutcomeUnknown(name)


def provider_client(service: str) -> Any:
    """Return the client of a service, without connections that may have gone stale."""
    client, now = _client(service), time.time()
    if not 0 <= now - _last_use.get(service, now) <= _MAX_IDLE_S:
        client.close()
    _last_use[service] = now
    return client


def forget_clients() -> None:
    """Discard the cached clients. Tests use this to replace the AWS endpoint."""
    _client.cache_clear()
    _last_use.clear()


def _response_error(error: ClientError, recipient: str) -> SendingError:
    # The message of the error can contain an address, so the reason is only the code.
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500))
    if code in _NOT_SENT_CODES or status == 429:
        return MessageNotSent(code)
    text = str(error.response.get("Error", {}).get("Message", "")).lower()
    if _OPTED_OUT in code.lower() or (code in _INVALID_NUMBER_CODES and "opted out" in text):
        return RecipientOptedOut(code)
    # SES verifies recipients only in its sandbox. Otherwise, it names only senders.
    if code == "MessageRejected" and _NOT_VERIFIED in text and _names(text, recipient):
        return RecipientNotVerified("recipient is not verified (SES sandbox)")
    if 400 <= status < 500 and code != "RequestTimeout":
        return MessageRejected(code)
    return OutcomeUnknown(code or str(status))


def _names(text: str, address: str) -> bool:
    """Return whether the list at the end of an error text contains this address."""
    listed = text.rpartition(": ")[2]
    return address.lower() in (identity.strip(" .") for identity in listed.split(","))


@cache
def _client(service: str) -> Any:
    config = client_config()
    one_attempt = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        read_timeout=max(SEND_READ_TIMEOUT_S, config.read_timeout),  # type: ignore[attr-defined]
    )
    return create_client(service, config.merge(one_attempt))
