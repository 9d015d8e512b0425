"""Tests of erasing import rows of customers in chunks that are not imported yet."""

from contextvars import Context
from datetime import timedelta

import pytest

from chalicelib.services.customers.accept_batch import read_import
from tests.services.customers.importing import (
    accept_batch,
    all_customers,
    outcome_counts,
    run_import,
)
from tests.services.erasure.erasing import erase, erased
from tests.services.faults import before_request
from tests.services.moved_time import Time
from tests.services.queues import IMPORT_QUEUE

PERSON = {"email": "zoe@example.test"}
OTHER = {"email": "max@example.test"}

pytestmark = pytest.mark.usefixtures("time")


def import_person(account: str) -> str:
    run_import(account, accept_batch(account, {"batch": [PERSON]}).id)
    (customer,) = all_customers(account)
    return customer.id


def test_rows_of_queued_import_are_erased(account: str) -> None:
    customer_id = import_person(account)
    rows = [PERSON | {"company": "Lumen"}, OTHER, PERSON | {"description": "Regular"}]
    queued = accept_batch(account, {"batch": rows})
    assert erased(erase(account, customer_id)) == {"customers": 1, "import_rows": 2}
    progress = run_import(account, queued.id)
    assert outcome_counts(progress) == {"created": 1, "failed": 2}
    assert [(error.index, error.code) for error in progress.errors] == [
        (0, "erased"),
        (2, "erased"),
    ]
    assert [customer.email for customer in all_customers(account)] == [OTHER["email"]]


@pytest.mark.parametrize("request_number", [1, 2])
def test_chunk_that_is_being_imported_does_not_restore_person(
    account: str, monkeypatch: pytest.MonkeyPatch, request_number: int
) -> None:
    customer_id = import_person(account)
    queued = accept_batch(account, {"batch": [PERSON | {"company": "Lumen"}, OTHER]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with before_request(
        monkeypatch, request_number, lambda: Context().run(erase, account, customer_id)
    ):
        assert IMPORT_QUEUE.deliver(bodies) == []
    assert outcome_counts(read_import(account, queued.id)) == {"created": 1, "failed": 1}
    assert [customer.email for customer in all_customers(account)] == [OTHER["email"]]


def test_rows_of_import_after_erasure_are_kept(account: str, time: Time) -> None:
    customer_id = import_person(account)
    erase(account, customer_id)
    time.ahead += timedelta(minutes=1)
    queued = accept_batch(account, {"batch": [PERSON]})
    erase(account, customer_id)
    assert outcome_counts(run_import(account, queued.id)) == {"created": 1}
