"""Build the headers of webhooks: validate custom headers and merge them with the system headers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chalicelib.domain.webhooks.signature import sign, sign_standard

MAX_VALUE_LENGTH: Final = 4096
TEST_HEADER: Final = "X-Service-Webhook-Test"

_MAX_NAME_LENGTH: Final = 100
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?")
_FRAMING: Final = frozenset(
    (
        "accept-encoding connection content-encoding content-length expect host http2-settings"
        " keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade"
    ).split()
)


class InvalidHeader(ValueError):
    """A custom header is invalid. The message states the reason in one sentence."""


def validate_headers(custom: Mapping[str, str]) -> None:
    """Check that custom headers cannot split the request or change its framing or destination.

    Raises:
        InvalidHeader: a header is invalid. Only the first invalid header is reported.
    """
    for _, _, detail in header_errors(custom):
        raise InvalidHeader(detail)


def header_errors(custom: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each invalid header, with the code and the detail of its error.

    A name must be a unique token that does not control the destination, framing or encoding of the
    message. A value must consist of printable ASCII characters; it must not start or end with a
    space or a tab (RFC 9110, sections 5.1 and 5.5).
    """
    seen: set[str] = set()
    for name, value in custom.items():
        normalized = normalize_header_name(name)
        if len(name) > _MAX_NAME_LENGTH or not _NAME.fullmatch(name):
            detail = f"Invalid header name (1 to {_MAX_NAME_LENGTH} token characters, RFC 9110)."
            yield name, "not_allowed", detail
        elif normalized in _FRAMING:
            yield name, "not_allowed", "This header controls the transport and cannot be set."
        elif len(value) > MAX_VALUE_LENGTH or not _VALUE.fullmatch(value):
            detail = f"Invalid value (at most {MAX_VALUE_LENGTH} printable ASCII characters)."
            yield name, "not_allowed", detail
        elif normalized in seen:
            detail = "Duplicate header name (case is ignored, and _ is equivalent to -)."
            yield name, "duplicate", detail
        seen.add(normalized)


def normalize_header_name(name: str) -> str:
    """Return a normalized header name. Equivalent names have the same normalized name.

    Names are case-insensitive (RFC 9110, section 5.1), and programs behind CGI or WSGI receive
    ``-`` and ``_`` as the same character (RFC 3875, section 4.1.18).
    """
    return name.lower().replace("_", "-")


def webhook_headers(
    custom: Mapping[str, str],
    body: bytes,
    secrets: Sequence[str],
    *,
    execution_id: str,
    timestamp: int,
    is_test: bool = False,
) -> dict[str, str]:
    """Return the custom and the system headers of one attempt; see `merge_headers`.

    The first secret signs ``X-Service-Webhook-Signature``. All of them sign ``webhook-signature``,
    one of the headers of Standard Webhooks (https://www.standardwebhooks.com). The header
    ``X-Service-Webhook-Test`` marks a test webhook. Other webhooks never have it.
    """
    system = {
        "Content-Type": "application/json",
        "User-Agent": "Service-Workflow-Webhook",
        "X-Service-Webhook-Timestamp": str(timestamp),
        "X-Service-Webhook-Signature": sign(secrets[0], timestamp, body),
        "X-Service-Webhook-Id": execution_id,
        "webhook-id": execution_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign_standard(secrets, execution_id, timestamp, body),
        TEST_HEADER: "true",
    }
    merged = merge_headers(custom, system)
    if not is_test:
        del merged[TEST_HEADER]
    return merged


def merge_headers(custom: Mapping[str, str], system: Mapping[str, str]) -> dict[str, str]:
    """Merge custom and system headers.

    A system header replaces the custom headers that have the same normalized name.
    """
    system_names = {normalize_header_name(name) for name in system}
    remaining = {
        name: value
        for name, value in custom.items()
        if normalize_header_name(name) not in system_names
    }
    return {**remaining, **system}
