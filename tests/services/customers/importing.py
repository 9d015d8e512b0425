"""Running an import by hand: the queue's messages are read and given to the function one by one."""

from typing import Any, Final

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.import_batch import AcceptedBatch, ImportProgress
from chalicelib.domain.paging import PageRequest
from chalicelib.functions.import_customers import import_customers
from chalicelib.services.customers import accept_batch as service
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.customers.read import list_customers
from chalicelib.web.partner.batch_body import validate_batch
from tests.services.queue_by_hand import QueueByHand

_QUEUE: Final = QueueByHand("imports.fifo", import_customers)
queued_messages = _QUEUE.queued_messages
deliver = _QUEUE.deliver


def accept_batch(
    account_id: str, document: Any, *, partial: bool = False, idempotency_key: str | None = None
) -> AcceptedBatch:
    """Judges a batch and keeps it, as a request for one does."""
    return service.accept_batch(
        account_id, validate_batch(document, partial=partial), idempotency_key
    )


def run_import(account_id: str, import_id: str) -> ImportProgress:
    """Delivers whatever is queued for the account and answers how far the import came."""
    deliver(queued_messages(account_id))
    return read_import(account_id, import_id)


def all_customers(account_id: str) -> list[Customer]:
    """Every customer of the account, in list order, after a check that positions are dense."""
    first = list_customers(account_id, PageRequest(limit=100))
    customers = list(first.items)
    for page in range(2, first.meta.total_pages + 1):
        customers += list_customers(account_id, PageRequest(limit=100, page=page)).items
    assert len(customers) == first.meta.total_items
    assert len({customer.id for customer in customers}) == len(customers)
    return customers


def numbers(progress: ImportProgress) -> dict[str, Any]:
    """What an import did to its rows."""
    assert (
        progress.created + progress.filled + progress.unchanged + progress.failed
        == progress.row_count
    )
    return {
        name: count
        for name in ("created", "filled", "unchanged", "failed")
        if (count := getattr(progress, name))
    }
