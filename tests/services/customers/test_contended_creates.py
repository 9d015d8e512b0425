"""Test that every created customer is listed, even if creates interleave or a process is killed."""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from admin.services.customers.save import save_customer
from admin.services.definitions.kinds import BRAND, STORE, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.listing import listing_request
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.parsing import parse
from chalicelib.services.customers.assign_positions import assign_positions
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import read_customer
from chalicelib.services.customers.request_positions import request_overdue_positions
from chalicelib.services.feedback.process import process_feedback
from chalicelib.storage import counters, customer_creation, customers
from chalicelib.storage.counters import CounterRow, Listed, take_position
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.time_limits import MIN_WORK_S, invocation
from tests.aws.faults import InjectedFault, Killed, before_request, inject_fault
from tests.aws.requests import Request, responding
from tests.aws.stage import tables
from tests.aws.tables import cancelled
from tests.policies import allowed
from tests.services.customers.importing import accept_batch, all_customers
from tests.services.feedback.submitting import answer_contact_form, respondents
from tests.services.kinds import account_with_same_shards
from tests.services.moved_time import Time
from tests.services.purchases import record_purchase
from tests.services.queues import FEEDBACK_QUEUE, IMPORT_QUEUE, LISTING_QUEUE
from tests.web.definitions import (
    brand_definition,
    customer_definition,
    purchase_definition,
    store_definition,
)
from tests.web.seeded_account import SeededAccount, seed_account

pytestmark = pytest.mark.usefixtures("time")

CREATE_REQUESTS = [
    "BatchGetItem",  # the counter, the customer and its pair
    "TransactWriteItems",  # try to create the customer with a position; another create was first
    "TransactWriteItems",  # create the customer without a position
    "SendMessageBatch",
]
LISTING_REQUESTS = [
    *["Query"] * 4,  # the shards of the account
    "GetItem",  # the counter
    "TransactWriteItems",
    *["Query"] * 4,
]

TOO_LATE = SimpleNamespace(get_remaining_time_in_millis=lambda: 1_000 * (MIN_WORK_S - 1))
"""A Lambda context in which too little time is left for more work."""


def create(account: str, *, key: str | None = None, **fields: Any) -> Customer:
    with allowed("api_handler"):
        return create_customer(account, parse({"firstName": "Zoé"} | fields, CustomerBody), key)


def reserve(account: str) -> None:
    """Reserve the counter for ten seconds. In this time, creates do not assign positions."""
    counters.reserve(account, Listed.CUSTOMERS, clock.now())


def run_worker(account: str, time: Time) -> None:
    """Advance the time by two seconds, then deliver the messages that request positions."""
    time.ahead += timedelta(seconds=2)
    LISTING_QUEUE.deliver_all(account)


def sweep_and_list(account: str, time: Time) -> list[Customer]:
    """Run the sweeper when positions are overdue, then the worker. Return the listed customers."""
    time.ahead += timedelta(minutes=3)
    with allowed("sweep"):
        request_overdue_positions()
    run_worker(account, time)
    return listed(account)


def listed(account: str) -> list[Customer]:
    """Return the account's customers in list order.

    Check that every customer has a position and that the positions are 1, 2, 3 and so on.
    """
    rows = list(CustomerRow.scan(CustomerRow.account_id == account))
    assert sorted(row.position or 0 for row in rows) == list(range(1, len(rows) + 1))
    assert {(row.work_shard, row.due_at) for row in rows} <= {(None, None)}
    return all_customers(account)


# Creates


def test_create_that_detects_contention_makes_four_requests(account: str, time: Time) -> None:
    with before_request(1, lambda: create(account)) as requests:
        customer = create(account, email="a@example.test")
    assert requests.operations == CREATE_REQUESTS
    assert read_customer(account, customer.id) == customer
    assert len(all_customers(account)) == 1
    run_worker(account, time)
    assert [c.id for c in listed(account)][1:] == [customer.id]


def test_creates_while_counter_is_reserved_send_one_message(account: str, time: Time) -> None:
    reserve(account)
    with inject_fault() as requests:
        first = create(account)
    assert requests.operations == ["BatchGetItem", "PutItem", "SendMessageBatch"]
    with inject_fault() as requests:
        second = create(account)
    # This process requested positions less than a second ago.
    assert requests.operations == ["BatchGetItem", "PutItem"]
    run_worker(account, time)
    assert {c.id for c in listed(account)} == {first.id, second.id}


def test_create_after_end_of_reservation_gets_position(account: str, time: Time) -> None:
    reserve(account)
    time.ahead += timedelta(seconds=11)
    with counted_calls() as calls:
        customer = create(account)
    assert calls == {"dynamodb.BatchGetItem": 1, "dynamodb.TransactWriteItems": 1}
    assert [c.id for c in listed(account)] == [customer.id]


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("is_contended", [False, True])
def test_concurrent_requests_with_same_key_create_one_customer(
    account: str, time: Time, number: int, is_contended: bool
) -> None:
    if is_contended:
        reserve(account)

    def others() -> None:
        create(account)
        create(account, key="k", email="a@example.test")

    with before_request(number, others):
        customer = create(account, key="k", email="a@example.test")
    assert create(account, key="k", email="a@example.test") == customer
    run_worker(account, time)
    assert [c.id for c in sweep_and_list(account, time)].count(customer.id) == 1


@pytest.mark.parametrize("is_contended", [False, True])
def test_pair_of_concurrently_created_customers_refers_to_first_customer(
    account: str, time: Time, is_contended: bool
) -> None:
    if is_contended:
        reserve(account)
    older: list[Customer] = []

    def other() -> None:
        older.append(create(account, email="a@example.test"))

    with before_request(1, other):
        younger = create(account, email="a@example.test")
    pair = pair_of("a@example.test", None)
    assert pair
    assert customers.find_by_pair(account, pair.digest) == older[0].id
    assert {c.id for c in sweep_and_list(account, time)} == {older[0].id, younger.id}


def test_respondent_is_customer_that_another_process_created(seeded: SeededAccount) -> None:
    records = [answer_contact_form(seeded, mail="a@example.test").id for _ in range(2)]
    others: list[Customer] = []

    def other() -> None:
        others.append(create(seeded.account_id, email="a@example.test"))

    with before_request("TransactWriteItems", other):
        assert process_feedback(records).keys() == {*records}
    (respondent,) = respondents(seeded)
    assert (respondent.id, respondent.feedback_count) == (others[0].id, 2)


@pytest.mark.usefixtures("cloud")
def test_respondents_during_contention_are_listed_later(time: Time) -> None:
    seeded = seed_account()
    reserve(seeded.account_id)
    for name in "ab":
        answer_contact_form(seeded, mail=f"{name}@example.test")
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    assert respondents(seeded) == []
    run_worker(seeded.account_id, time)
    assert sorted(str(each.email)[0] for each in respondents(seeded)) == ["a", "b"]


@pytest.mark.usefixtures("cloud")
def test_contended_counter_of_one_account_leaves_positions_of_others(time: Time) -> None:
    contended, other = seed_account(), seed_account()
    records = [answer_contact_form(each, mail="a@example.test") for each in (contended, other)]
    with before_request("TransactWriteItems", lambda: create(contended.account_id)):
        process_feedback([record.id for record in records])
    assert len(respondents(other)) == 1
    run_worker(contended.account_id, time)
    assert len(respondents(contended)) == 2


def test_worker_lists_customers_in_creation_order(account: str, time: Time) -> None:
    reserve(account)
    ids = []
    for _ in range(5):
        ids.append(create(account).id)
        time.ahead += timedelta(milliseconds=20)
    run_worker(account, time)
    assert [c.id for c in listed(account)] == ids


def test_recording_purchase_requests_position_for_new_customer(account: str, time: Time) -> None:
    brand = save(BRAND, account, brand_definition())
    store = save(STORE, account, store_definition(brand.id))
    reserve(account)
    for customer in ({"email": "a@example.test"}, {"firstName": "Zoé"}):
        record_purchase(account, purchase_definition(store.id, customer=customer))
        time.ahead += timedelta(seconds=2)
        assert len(LISTING_QUEUE.queued_messages(account)) == 1
    assert len(sweep_and_list(account, time)) == 2


def test_customer_for_new_respondent_is_created_while_counter_is_reserved(
    seeded: SeededAccount, time: Time
) -> None:
    before = len(all_customers(seeded.account_id))
    answer_contact_form(seeded, mail="zoe@example.test")
    reserve(seeded.account_id)
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    assert len(all_customers(seeded.account_id)) == before
    run_worker(seeded.account_id, time)
    assert len(listed(seeded.account_id)) == before + 1
    assert seeded.counts[0] == 1


def test_customer_replaced_before_listing_is_listed(account: str, time: Time) -> None:
    reserve(account)
    customer = create(account, email="a@example.test")
    save_customer(account, customer_definition(id=customer.id, firstName="Ana"))
    run_worker(account, time)
    (replaced,) = listed(account)
    fields = (replaced.id, replaced.first_name, replaced.email)
    assert fields == (customer.id, "Ana", "a@example.test")


def test_replace_keeps_position_that_worker_assigns_concurrently(account: str, time: Time) -> None:
    reserve(account)
    customer = create(account)
    key = account_key(account, customer.id)
    with before_request(1, lambda: customer_creation.assign_positions(account, [key], 0)):
        save_customer(account, customer_definition(id=customer.id))
    assert [c.id for c in listed(account)] == [customer.id]


def test_create_while_counter_is_throttled_leaves_position_to_worker(
    account: str, time: Time
) -> None:
    def throttle_counter(request: Request) -> Any:
        is_counter = [table == CounterRow.table_name() for table, _ in request.table_actions()]
        if request.operation != "TransactWriteItems" or not any(is_counter):
            return request.send()
        raise cancelled(*("ThrottlingError" if c else "None" for c in is_counter))

    with responding(throttle_counter):
        customer = create(account)
    assert all_customers(account) == []
    assert [c.id for c in sweep_and_list(account, time)] == [customer.id]


# The worker


def test_worker_makes_ten_requests_for_one_customer(account: str, time: Time) -> None:
    reserve(account)
    create(account)
    with inject_fault() as requests:
        run_worker(account, time)
    assert requests.operations == LISTING_REQUESTS


def test_worker_reserves_counter_if_ten_customers_have_no_position(
    account: str, time: Time
) -> None:
    reserve(account)
    for _ in range(10):
        create(account)
    time.ahead += timedelta(seconds=20)
    run_worker(account, time)
    create(account)
    assert len(LISTING_QUEUE.queued_messages(account)) == 1
    assert len(sweep_and_list(account, time)) == 11


def test_worker_lists_more_customers_than_fit_into_one_transaction(
    account: str, time: Time
) -> None:
    for _ in range(customer_creation.MAX_ASSIGNED + 3):
        reserve(account)
        create(account)
        time.ahead += timedelta(milliseconds=5)
    run_worker(account, time)
    in_order = listed(account)
    assert len(in_order) == customer_creation.MAX_ASSIGNED + 3
    assert all(a.created_at <= b.created_at for a, b in pairwise(in_order))


def test_worker_reads_no_unlisted_customers_of_other_accounts(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows_of_worker() -> int:
        reserve(account)
        create(account)
        with tables().metered() as read:
            run_worker(account, time)
        time.ahead += timedelta(seconds=11)  # the reservation of the counter ends
        return read.rows

    alone = rows_of_worker()
    other = account_with_same_shards(account)
    reserve(other)
    for _ in range(30):
        create_customer(other, parse({"firstName": "Zoé"}, CustomerBody))
    assert rows_of_worker() == alone
    assert len(listed(account)) == 2


def test_create_that_is_repeated_meanwhile_does_not_replace_customer(account: str) -> None:
    reserve(account)

    def create_and_list() -> None:
        key = account_key(account, create(account, key="key").id)
        customer_creation.assign_positions(account, [key], 0)

    with before_request("PutItem", create_and_list):
        created = create(account, key="key")
    assert [customer.id for customer in listed(account)] == [created.id]


def test_assignment_relies_on_total_that_a_failure_returned(account: str) -> None:
    reserve(account)
    keys, outdated = [account_key(account, create(account).id) for _ in range(2)], 5
    with before_request(1, lambda: import_a_row(account)) as requests:
        assert customer_creation.assign_positions(account, keys, outdated) == 3
    assert requests.operations == ["TransactWriteItems"] * 3
    assert len(listed(account)) == 3


def import_a_row(account: str) -> None:
    accept_batch(account, {"batch": [{"firstName": "Imported"}]})
    IMPORT_QUEUE.deliver_all(account)


def delete_unlisted(account: str) -> None:
    for key in customer_creation.find_unlisted(account)[:1]:
        CustomerRow(key).delete()


def assign_all(account: str) -> None:
    customer_creation.assign_positions(
        account,
        customer_creation.find_unlisted(account),
        counters.load_total(account, Listed.CUSTOMERS, consistent=True),
    )


@pytest.mark.parametrize("number", range(len(LISTING_REQUESTS)))
@pytest.mark.parametrize("action", [import_a_row, delete_unlisted, assign_all, create])
def test_change_during_assignment_leaves_no_gap_in_positions(
    account: str,
    time: Time,
    number: int,
    action: Callable[[str], object],
) -> None:
    reserve(account)
    for _ in range(3):
        create(account)
    time.ahead += timedelta(seconds=11)  # the reservation ends
    bodies = LISTING_QUEUE.queued_messages(account)
    with before_request(number, lambda: action(account)):
        LISTING_QUEUE.deliver(bodies)
    assert len(sweep_and_list(account, time)) == len(
        list(CustomerRow.scan(CustomerRow.account_id == account))
    )


def test_several_messages_of_one_account_are_processed_once(account: str, time: Time) -> None:
    reserve(account)
    create(account)
    (body,) = LISTING_QUEUE.queued_messages(account)
    time.ahead += timedelta(seconds=2)
    with counted_calls() as calls:
        assert LISTING_QUEUE.deliver([body, "{", body]) == ["{", body]
        assert LISTING_QUEUE.deliver([body, body]) == []
    assert calls["dynamodb.TransactWriteItems"] == 1


# Faults


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(CREATE_REQUESTS)))
def test_customer_is_listed_after_fault_in_contended_create(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch, number: int, fault: InjectedFault
) -> None:
    is_first = iter([True])

    def change_total(by: int) -> None:
        counter, total = CounterRow(account, Listed.CUSTOMERS.value), CounterRow.total
        tables().respond("UpdateItem", counter.get_update_kwargs_from_instance([total.add(by)]))

    def take_outdated(*arguments: Any) -> int | None:
        if next(is_first, False):
            # Another create changes the total after it was read.
            change_total(7)
        return take_position(*arguments)

    monkeypatch.setattr(customer_creation, "take_position", take_outdated)
    with (
        inject_fault(number, fault) as requests,
        contextlib.suppress(Exception, Killed),
    ):
        create(account, key="k", email="a@example.test")
    assert requests.operations[: number + 1] == CREATE_REQUESTS[: number + 1]
    if not next(is_first, False):
        change_total(-7)
    customer = create(account, key="k", email="a@example.test")
    assert [c.id for c in sweep_and_list(account, time)] == [customer.id]


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(LISTING_REQUESTS)))
def test_customers_are_listed_after_fault_in_worker(
    account: str, time: Time, number: int, fault: InjectedFault
) -> None:
    reserve(account)
    ids = [create(account).id for _ in range(3)]
    with inject_fault(number, fault):
        run_worker(account, time)
    assert {c.id for c in sweep_and_list(account, time)} == set(ids)


def test_create_succeeds_while_listing_queue_is_unavailable(account: str, time: Time) -> None:
    reserve(account)
    with inject_fault(2, InjectedFault.TIMEOUT):
        create(account)
    create(account)  # requests positions again, because the first request failed
    assert len(LISTING_QUEUE.queued_messages(account)) == 1
    assert len(sweep_and_list(account, time)) == 2


def test_sweeper_sends_one_message_per_account_with_unlisted_customers(
    account: str, time: Time
) -> None:
    reserve(account)
    create(account)
    create(account)
    LISTING_QUEUE.queued_messages(account)
    time.ahead += timedelta(minutes=1)
    request_overdue_positions()
    assert LISTING_QUEUE.queued_messages(account) == []
    time.ahead += timedelta(minutes=2)
    with invocation(TOO_LATE):
        assert request_overdue_positions().records == 0
    request_overdue_positions()
    assert len(LISTING_QUEUE.queued_messages(account)) == 1


def test_worker_without_time_left_assigns_no_position(account: str, time: Time) -> None:
    reserve(account)
    create(account)
    with invocation(TOO_LATE):
        assert assign_positions(listing_request(account, clock.now())) == 0
    assert len(sweep_and_list(account, time)) == 1


def test_worker_lists_customers_after_throttled_request(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve(account)
    create(account)
    find = customer_creation.find_unlisted
    throttled = iter([True])

    def find_unlisted(account_id: str) -> list[str]:
        if next(throttled, False):
            raise Unavailable("busy")
        return find(account_id)

    monkeypatch.setattr(customer_creation, "find_unlisted", find_unlisted)
    run_worker(account, time)
    assert len(listed(account)) == 1
