"""Create an account with many customers by writing their rows directly to the tables."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from benchmarks.sample_account import customer as customer_document
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import CustomerDefinition, build_customer
from chalicelib.domain.parsing import parse
from chalicelib.services.accounts.manage import create_account, issue_key
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow, build_row

_WRITERS: Final = 3
_ROWS_PER_TASK: Final = 500


def load(account_id: str, total: int) -> dict[str, str]:
    """Create the account with ``total`` customers and return request headers with its credentials.

    The customer rows equal the rows that the storage layer writes, with the positions 1 to
    ``total``. There are no pair rows, because the benchmark does not read them. The customers have
    no tags.
    """
    create_account("Maison Lumen", account_id)
    credential, secret = issue_key(account_id, "benchmark")
    CounterRow(account_id, Listed.CUSTOMERS.value, total=total).save()

    def write(first: int) -> None:
        with CustomerRow.batch_write() as batch:
            for number in range(first, min(first + _ROWS_PER_TASK, total + 1)):
                batch.save(_customer_row(account_id, number))

    with ThreadPoolExecutor(_WRITERS) as writers:
        list(writers.map(write, range(1, total + 1, _ROWS_PER_TASK)))
    return {"X-API-KEY": credential.api_key, "X-API-SECRET": secret}


def _customer_row(account_id: str, number: int) -> CustomerRow:
    document = parse(customer_document(number), CustomerDefinition)
    return build_row(account_id, build_customer(document, (), clock.now()), position=number)
