"""Process messages of the purchases queue concurrently, and reject invalid ones."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from chalicelib.concurrency import map_concurrently
from chalicelib.outbound.queues import send_to_dead_letters
from chalicelib.queues import PURCHASES

MAX_CONCURRENCY: Final = 5

Item = TypeVar("Item")
Result = TypeVar("Result")


def process_concurrently(process: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call ``process`` for all items concurrently. Return the results in the items' order."""
    return map_concurrently(process, items, MAX_CONCURRENCY)


def reject_purchase(body: str) -> None:
    """Move the message to the dead-letter queue.

    Raises:
        Unavailable: the message was not sent, and the queue must redeliver it.
    """
    send_to_dead_letters(PURCHASES, body)
