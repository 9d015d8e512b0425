"""Change the customers with a suppressed address that did not fit into the first transaction."""

from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.messages import decode
from chalicelib.queues import SUPPRESSIONS
from chalicelib.services.work.worker import Message, Worker, WorkOutcome
from chalicelib.storage import contacts, suppressions
from chalicelib.storage.contacts import ContactPointer
from chalicelib.time_limits import has_time_for_work


class ChangeOutcome(WorkOutcome):
    """The outcome of processing one queue message."""

    DONE = "done", "customers of contact changed", "done"
    CONTINUED = "continued", "change of customers continued"
    DEFERRED = "deferred", "change of customers deferred"
    RESCHEDULED = "retry scheduled", "change of customers rescheduled"
    PARKED = "parked", "change of customers parked", "parked"


def change_customers(message: Message[ContactPointer]) -> ChangeOutcome:
    """Change the customers with an address until none is left, or the function's time runs out.

    Then the sweeper queues the contact again. Three AWS requests for 49 customers.

    Raises:
        Unavailable: the database throttles, or contention persists. A repeated call continues.
    """
    while has_time_for_work():
        if suppressions.change_further_customers(message.pointer, clock.now()):
            return ChangeOutcome.DONE
    return ChangeOutcome.CONTINUED


WORKER: Final = Worker(
    queue=SUPPRESSIONS,
    parse=partial(decode, ContactPointer),
    run=change_customers,
    records=contacts.WORK,
    key=lambda pointer: (pointer.contact_key, contacts.PART),
    outcomes=ChangeOutcome,
    log_fields=("account_id", "contact_key"),
)
