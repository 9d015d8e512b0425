"""Erase customers through the services, as the operator command and the worker do."""

from datetime import timedelta

from chalicelib.domain.erasure.erasure import Erased, Erasure
from chalicelib.domain.work import WorkState
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import erasures
from tests.services.kinds import ERASURES
from tests.services.moved_time import Time
from tests.services.queues import ERASURE_QUEUE

OPERATOR = "arn:aws:iam::123456789012:user/anna"


def start(account_id: str, customer_id: str) -> Erasure:
    """Start the erasure of a customer."""
    return start_erasure(account_id, customer_id, OPERATOR)


def erase(account_id: str, customer_id: str) -> Erasure:
    """Start the erasure of a customer and run its first pass."""
    erasure = continue_erasure(start(account_id, customer_id).pointer)
    assert erasure
    return erasure


def finish(account_id: str, customer_id: str, time: Time) -> Erasure:
    """Move the clock ahead, sweep and deliver messages until the erasure has ended."""
    for _ in range(10):
        erasure = erasures.find(erasures.erasure_id(account_id, customer_id))
        if erasure and erasure.state is WorkState.DONE:
            return erasure
        time.ahead += timedelta(minutes=20)
        sweep(ERASURES)
        ERASURE_QUEUE.deliver_all(account_id)
    raise AssertionError("The erasure has not ended.")


def erased(erasure: Erasure) -> dict[str, int]:
    """Return the number of erased records of each kind, without zeros."""
    return {kind.value: erasure.counts[kind] for kind in Erased if erasure.counts[kind]}
