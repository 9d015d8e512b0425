"""The headers of a webhook: the system's, and the custom ones that may stand beside them."""

import re
from collections.abc import Mapping
from typing import Final

MAX_VALUE_LENGTH: Final = 4096

_LONGEST_NAME: Final = 100
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?")
_FRAMING: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


class InvalidHeader(ValueError):
    """A custom header breaks a rule; the message is one sentence that says which.

    Attributes:
        name: the header's name.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


def validate_headers(custom: Mapping[str, str]) -> None:
    """Return if none of these headers can split a request, or say where it goes or where it ends.

    Raises:
        UnfitHeader: the first that is not fit. Names are tokens, values printable ASCII with spaces
            and tabs between (RFC 9110, sections 5.1 and 5.5), and no name comes twice.
    """
    seen: set[str] = set()
    for name, value in custom.items():
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
            raise InvalidHeader(name, f"This is no name of a header, of at most {_LONGEST_NAME}.")
        if is_framing_header(name):
            raise InvalidHeader(name, "This header says how the request is sent; it is not yours.")
        if len(value) > MAX_VALUE_LENGTH or not _VALUE.fullmatch(value):
            raise InvalidHeader(
                name, f"The value must be printable ASCII on one line, at most {MAX_VALUE_LENGTH}."
            )
        if normalize_header_name(name) in seen:
            raise InvalidHeader(
                name, "This name comes twice; neither case nor _ for - makes a difference."
            )
        seen.add(normalize_header_name(name))


def normalize_header_name(name: str) -> str:
    """What is the same for names that a receiver may take for one header.

    Case makes no difference (RFC 9110, section 5.1), and programs behind CGI or WSGI get ``-`` and
    ``_`` as the same character (RFC 3875, section 4.1.18).
    """
    return name.lower().replace("_", "-")


def is_framing_header(name: str) -> bool:
    """Whether the header says where the message goes, where it ends, or how it is packed."""
    return normalize_header_name(name) in _FRAMING


def webhook_headers(
    custom: Mapping[str, str], *, execution_id: str, timestamp: int, signature: str
) -> dict[str, str]:
    """All headers of one attempt. A system header wins over a custom one, however it is written."""
    system = {
        "Content-Type": "application/json",
        "User-Agent": "Service-Workflow-Webhook",
        "X-Service-Webhook-Timestamp": str(timestamp),
        "X-Service-Webhook-Signature": signature,
        "X-Service-Webhook-Id": execution_id,
    }
    return merge_headers(custom, system)


def merge_headers(custom: Mapping[str, str], system: Mapping[str, str]) -> dict[str, str]:
    """Both together, without the custom ones that a receiver may take for one that wins."""
    taken = {normalize_header_name(name) for name in system}
    kept = {
        name: value for name, value in custom.items() if normalize_header_name(name) not in taken
    }
    return {**kept, **system}
