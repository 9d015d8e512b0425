"""Messages as Lambda hands them over from a queue: what each points at, and whether it is new."""

from collections.abc import Callable
from typing import Any, TypeVar

from chalicelib.log import logger

Pointer = TypeVar("Pointer")


def pointer_of(record: dict[str, Any], from_json: Callable[[str], Pointer]) -> Pointer | None:
    """What a message points at; None when it cannot be read.

    Left on the queue, that one is moved to the dead letters after so many receives.
    """
    try:
        return from_json(record["body"])
    except (ValueError, KeyError, TypeError, RecursionError):
        logger.error("unreadable message", message_id=record["messageId"])
        return None


def is_redelivery(record: dict[str, Any]) -> bool:
    """Whether it was received already: a claim came to no end, for the process was killed."""
    return int(record.get("attributes", {}).get("ApproximateReceiveCount", 1)) > 1
