"""Accept a batch, run its import, and read the resulting customers and counts."""

from typing import Any

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.import_batch import AcceptedBatch, ImportProgress
from chalicelib.domain.paging import PageRequest
from chalicelib.services.customers import accept_batch as service
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.customers.read import list_customers
from chalicelib.web.partner.batch_body import validate_batch
from tests.services.queues import IMPORT_QUEUE


def accept_batch(
    account_id: str, document: Any, *, partial: bool = False, idempotency_key: str | None = None
) -> AcceptedBatch:
    """Validate and accept a batch, as the batch endpoint does."""
    return service.accept_batch(
        account_id, validate_batch(document, partial=partial), idempotency_key
    )


def run_import(account_id: str, import_id: str) -> ImportProgress:
    """Process the account's queued messages once and return the progress of the import."""
    IMPORT_QUEUE.deliver(IMPORT_QUEUE.queued_messages(account_id))
    return read_import(account_id, import_id)


def all_customers(account_id: str) -> list[Customer]:
    """Return the account's customers in list order.

    Check that the number of customers equals the total that the list reports.
    """
    first = list_customers(account_id, PageRequest(limit=100))
    customers = list(first.items)
    for page in range(2, first.meta.total_pages + 1):
        customers += list_customers(account_id, PageRequest(limit=100, page=page)).items
    assert len(customers) == first.meta.total_items
    assert len({customer.id for customer in customers}) == len(customers)
    return customers


def outcome_counts(progress: ImportProgress) -> dict[str, Any]:
    """Return the nonzero counts of an import.

    Check that the sum of the counts is the number of rows.
    """
    assert (
        progress.created + progress.filled + progress.unchanged + progress.failed
        == progress.row_count
    )
    return {
        name: count
        for name in ("created", "filled", "unchanged", "failed")
        if (count := getattr(progress, name))
    }
