"""Tests of erasing import rows of customers in chunks that are not imported yet."""

from collections.abc import Callable, Collection
from contextvars import Context
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.parsing import parse
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.customers.create import create_customer
from chalicelib.storage import imports
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.imports import ImportRow, LoadedChunk
from tests.aws.faults import before_request
from tests.aws.stage import tables
from tests.services.customers.importing import (
    accept_batch,
    all_customers,
    outcome_counts,
    run_import,
)
from tests.services.erasure.erasing import erase, erased, finish, start
from tests.services.kinds import account_with_same_shards
from tests.services.moved_time import Time, wrong_clock
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


@pytest.mark.parametrize("is_parked", [False, True])
def test_pass_reads_no_chunks_of_other_accounts(account: str, is_parked: bool) -> None:
    persons = [{"email": f"{name}@example.test"} for name in ("zoe", "max")]
    customers = [create_customer(account, parse(each, CustomerBody)) for each in persons]
    with tables().metered() as before:
        erase(account, customers[0].id)
    other = account_with_same_shards(account)
    for number in range(30):
        accept_batch(other, {"batch": [PERSON | {"company": str(number)}]})
    if is_parked:
        for row in ImportRow.scan(ImportRow.account_id == other):
            if row.state == "PENDING":
                row.set_aside(clock.now())
                row.save()
    with tables().metered() as after:
        erase(account, customers[1].id)
    assert after.rows <= before.rows


def test_rows_of_parked_chunk_are_erased(account: str) -> None:
    customer_id = import_person(account)
    accept_batch(account, {"batch": [PERSON, OTHER]})
    for row in ImportRow.scan(ImportRow.state == "PENDING"):
        row.set_aside(clock.now())
        row.save()
    assert erased(erase(account, customer_id)) == {"customers": 1, "import_rows": 1}


@pytest.mark.parametrize("request_number", [1, 2])
def test_chunk_that_is_being_imported_does_not_restore_person(
    account: str, request_number: int
) -> None:
    customer_id = import_person(account)
    queued = accept_batch(account, {"batch": [PERSON | {"company": "Lumen"}, OTHER]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with before_request(request_number, lambda: Context().run(erase, account, customer_id)):
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


@pytest.mark.parametrize("starts", ["before the chunk is read", "before the chunk is written"])
def test_chunk_that_erasure_did_not_find_does_not_restore_person(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch, starts: str
) -> None:
    # The index of unfinished work does not contain the chunk yet.
    monkeypatch.setattr(imports, "unfinished", lambda _account_id: [])
    queued = accept_batch(account, {"batch": [PERSON, OTHER]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    time.ahead += timedelta(minutes=1)

    def create_and_erase() -> None:
        erase(account, create_customer(account, parse(PERSON, CustomerBody)).id)

    if starts == "before the chunk is read":
        customer_id = create_customer(account, parse(PERSON, CustomerBody)).id
        erase(account, customer_id)
        finish(account, customer_id, time)
    selected = "TransactWriteItems" if starts == "before the chunk is written" else -1
    with before_request(selected, create_and_erase) as requests:
        assert IMPORT_QUEUE.deliver(bodies) == []
    if starts == "before the chunk is read":
        assert len(requests.operations) == 4
    progress = read_import(account, queued.id)
    assert outcome_counts(progress) == {"created": 1, "failed": 1}
    assert [(error.index, error.code) for error in progress.errors] == [(0, "erased")]
    assert [customer.email for customer in all_customers(account)] == [OTHER["email"]]


def test_erasure_that_is_visible_in_part_is_checked_again(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "unfinished", lambda _account_id: [])
    customer_id = import_person(account)
    queued = accept_batch(account, {"batch": [PERSON]})
    time.ahead += timedelta(minutes=1)
    erase(account, customer_id)
    load_persons, calls = imports.load_persons, list[int]()

    def load(rows: Rows, chunk: LoadedChunk, keys: Collection[str]) -> Any:
        found, persons = load_persons(rows, chunk, keys)
        calls.append(1)
        if len(calls) == 1:
            # The counter shows the erasure, the contacts do not show it yet.
            persons = {key: replace(each, erased_at=None) for key, each in persons.items()}
        return found, persons

    monkeypatch.setattr(imports, "load_persons", load)
    assert outcome_counts(run_import(account, queued.id)) == {"failed": 1}
    assert all_customers(account) == []


@pytest.mark.parametrize("ahead", [timedelta(minutes=5), timedelta(minutes=-5)])
def test_wrong_clock_of_process_does_not_change_age_of_import(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch, ahead: timedelta
) -> None:
    monkeypatch.setattr(imports, "unfinished", lambda _account_id: [])
    customer_id = import_person(account)

    def accept() -> str:
        with wrong_clock(ahead):
            return accept_batch(account, {"batch": [PERSON]}).id

    older = accept()
    time.ahead += timedelta(minutes=1)
    erase(account, customer_id)
    time.ahead += timedelta(minutes=1)
    newer = accept()
    assert outcome_counts(run_import(account, newer)) == {"created": 1}
    assert outcome_counts(read_import(account, older)) == {"failed": 1}


@pytest.mark.parametrize("starts", ["before the chunk is read", "before the chunk is written"])
@pytest.mark.parametrize("in_between", [start, erase])
@pytest.mark.parametrize(
    "row",
    [
        {"email": "Zoe@example.test", "phoneNumber": "+33 6 98 76 54 32"},
        {"email": "zoe@work.test", "phoneNumber": "0033 (0)6 12 34 56 78"},
        {"email": "zoe@example.test"},
        {"phoneNumber": "+33612345678"},
    ],
)
def test_older_row_with_one_address_of_erased_person_is_not_imported(
    account: str,
    time: Time,
    row: dict[str, str],
    in_between: Callable[[str, str], object],
    starts: str,
) -> None:
    person = parse(PERSON | {"phoneNumber": "+33612345678"}, CustomerBody)
    customer_id = create_customer(account, person).id
    queued = accept_batch(account, {"batch": [row, OTHER]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    time.ahead += timedelta(minutes=1)
    if starts == "before the chunk is read":
        in_between(account, customer_id)
    selected = "TransactWriteItems" if starts == "before the chunk is written" else -1
    with before_request(selected, lambda: Context().run(in_between, account, customer_id)):
        assert IMPORT_QUEUE.deliver(bodies) == []
    erase(account, customer_id)
    assert outcome_counts(read_import(account, queued.id)) == {"created": 1, "failed": 1}
    assert [customer.email for customer in all_customers(account)] == [OTHER["email"]]
    time.ahead += timedelta(minutes=1)
    newer = accept_batch(account, {"batch": [row]})
    assert outcome_counts(run_import(account, newer.id)) == {"created": 1}


def test_rows_of_import_whose_clock_was_fast_are_erased(account: str) -> None:
    customer_id = import_person(account)
    with wrong_clock(timedelta(minutes=4)):
        accept_batch(account, {"batch": [PERSON | {"company": "Lumen"}]})
    assert erased(erase(account, customer_id)) == {"customers": 1, "import_rows": 1}


def test_imported_customer_has_creation_time_of_import(account: str, time: Time) -> None:
    queued = accept_batch(account, {"batch": [PERSON]})
    accepted_at = read_import(account, queued.id).created_at
    time.ahead += timedelta(hours=1)
    run_import(account, queued.id)
    (customer,) = all_customers(account)
    assert customer.created_at == accepted_at
    assert customer.updated_at > accepted_at
