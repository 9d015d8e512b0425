"""Assign positions to customers that were created while the account's counter was contended."""

import time
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.listing import ListingPointer
from chalicelib.domain.errors import Unavailable
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.queues import LISTING
from chalicelib.services.work.worker import Message, MessageOutcome, Worker
from chalicelib.storage import counters, customer_creation
from chalicelib.storage.counters import Listed
from chalicelib.time_limits import has_time_for_work

_POLL_INTERVAL_S: Final = 0.1
_RETRY_INTERVAL_S: Final = 1.0
_MAX_PER_ROUND: Final = 20 * customer_creation.MAX_ASSIGNED
_MANY: Final = 10
"""The worker reserves the counter if at least this number of customers lack a position.

A smaller number is normal and does not indicate contention.
"""


def assign_positions(request: ListingPointer) -> int:
    """Assign positions until every new customer has one. Return the number of assigned positions.

    The function ends when it finds no customer after the time that the request covers, or when
    time runs out. In the second case the sweeper requests positions for the remaining customers.
    """
    assigned: set[str] = set()
    while has_time_for_work():
        is_last_round = clock.now() >= request.covers_until
        try:
            if _assign_round(request.account_id, assigned):
                continue
        except Unavailable as error:
            logger.warning(
                "position assignment delayed", account_id=request.account_id, reason=str(error)
            )
            time.sleep(_RETRY_INTERVAL_S)
            continue
        if is_last_round:
            break
        time.sleep(_POLL_INTERVAL_S)
    return len(assigned)


def _assign_round(account_id: str, assigned: set[str]) -> bool:
    """Assign positions to the customers in the index. Return False if there are no customers.

    Args:
        assigned: the keys that earlier rounds assigned. The index may still contain them. This
            function adds the keys that it assigns.
    """
    unlisted = [key for key in customer_creation.find_unlisted(account_id) if key not in assigned]
    if not unlisted:
        return False
    if len(unlisted) >= _MANY:
        total = counters.reserve(account_id, Listed.CUSTOMERS, clock.now())
    else:
        total = counters.load_total(account_id, Listed.CUSTOMERS, consistent=True)
    for start in range(0, min(len(unlisted), _MAX_PER_ROUND), customer_creation.MAX_ASSIGNED):
        if not has_time_for_work():
            break
        batch = unlisted[start : start + customer_creation.MAX_ASSIGNED]
        total = customer_creation.assign_positions(account_id, batch, total)
        assigned.update(batch)
    return True


def _covered_messages(messages: Sequence[Message[ListingPointer]]) -> Collection[ListingPointer]:
    """Return the pointers of all messages except the latest message of each account.

    The latest message covers all customers that the earlier messages cover.
    """
    latest = {message.pointer.account_id: message.pointer for message in messages}
    pointers = [message.pointer for message in messages]
    return [pointer for pointer in pointers if pointer != latest[pointer.account_id]]


def _process(message: Message[ListingPointer]) -> MessageOutcome:
    assigned = assign_positions(message.pointer)
    logger.info("customers listed", account_id=message.pointer.account_id, assigned=assigned)
    return MessageOutcome.DONE


WORKER: Final = Worker(
    queue=LISTING,
    parse=partial(decode, ListingPointer),
    prepare=_covered_messages,
    run=_process,
)
"""There is no work record: the sweeper finds customers without a position itself."""
