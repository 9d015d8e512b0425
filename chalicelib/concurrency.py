"""Call a function for many items concurrently."""

from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_concurrently(
    function: Callable[[Item], Result], items: Sequence[Item], max_threads: int
) -> list[Result]:
    """Call the function for all items concurrently. Return the results in the items' order.

    The calls can read the context variables of the caller. If a call raises an exception, the other
    calls still run.
    """
    if len(items) <= 1:
        return [function(item) for item in items]
    # Imported on first use, because most processes never call functions concurrently.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_threads) as threads:
        futures = [threads.submit(copy_context().run, function, item) for item in items]
        return [future.result() for future in futures]
