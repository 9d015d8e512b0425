"""Tests of the deletion of customers: positions, totals, pairs, and repeated erasures."""

from collections.abc import Callable, Iterator
from contextvars import Context
from datetime import timedelta

import pytest

from admin.services.customers.save import save_customer
from admin.storage.list_positions import customer_positions
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.erasure.erasure import build_receipt
from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.work import WorkState
from chalicelib.services.customers.create import create_customer
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import (
    contacts,
    counters,
    customer_creation,
    customers,
    erasures,
    trackers,
)
from chalicelib.storage.counters import Listed
from chalicelib.storage.customers import CustomerPairRow, CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from tests.aws.faults import before_request
from tests.services.customers.importing import accept_batch, all_customers
from tests.services.erasure.erasing import OPERATOR, erase, erased, finish
from tests.services.moved_time import Time, wrong_clock
from tests.services.queues import IMPORT_QUEUE

PAIR = {"email": "zoe@example.test", "phoneNumber": "+33 6 12 34 56 78"}

pytestmark = pytest.mark.usefixtures("time")


def create(account: str, **fields: str) -> Customer:
    return create_customer(account, parse(fields or {"firstName": "Zoé"}, CustomerBody))


def create_at(account: str, seconds: int) -> Customer:
    """Create a customer with the pair at this time from now."""
    with clock.fixed_at(clock.now() + timedelta(seconds=seconds)):
        return create(account, **PAIR)


def ids(found: list[Customer]) -> list[str]:
    return [customer.id for customer in found]


def test_last_customer_moves_into_erased_position(account: str) -> None:
    first, second, third, fourth = (create(account) for _ in range(4))
    erase(account, second.id)
    assert ids(all_customers(account)) == ids([first, fourth, third])


def test_erasing_last_customer_of_list_moves_no_customer(account: str) -> None:
    first, second = create(account), create(account)
    erase(account, second.id)
    assert ids(all_customers(account)) == [first.id]
    erase(account, first.id)
    assert all_customers(account) == []


@pytest.mark.parametrize("request_number", [0, 1])
def test_erasure_is_found_if_customer_is_erased_between_reads(
    account: str, request_number: int
) -> None:
    customer_id = create(account).id
    with before_request(request_number, lambda: Context().run(erase, account, customer_id)):
        erasure = start_erasure(account, customer_id, OPERATOR)
    assert erasure == erasures.find(erasure.id)


def test_customers_can_be_created_after_all_were_erased(account: str, time: Time) -> None:
    erase(account, create(account).id)
    time.ahead += timedelta(seconds=11)  # the reservation of the counter ends
    created = create(account)
    assert ids(all_customers(account)) == [created.id]


def test_erasing_unlisted_customer_changes_no_position(account: str) -> None:
    listed, unlisted = create(account), create(account)
    CustomerRow(account_key(account, unlisted.id)).update(
        [CustomerRow.position.remove(), CustomerRow.list_block.remove()]
    )
    erase(account, unlisted.id)
    assert customers.find(account, unlisted.id) is None
    assert customers.find(account, listed.id)
    assert customer_positions(account).load_total() == 2


def test_pair_passes_to_next_oldest_customer(account: str) -> None:
    first, second, third = (create_at(account, seconds) for seconds in (-3, -2, -1))
    create(account, email=PAIR["email"])
    pair = pair_of(PAIR["email"], PAIR["phoneNumber"])
    assert pair
    for holder, next_id in ((first, second.id), (second, third.id), (third, None)):
        assert customers.find_by_pair(account, pair.digest) == holder.id
        erase(account, holder.id)
        assert customers.find_by_pair(account, pair.digest) == next_id


def test_pair_passes_to_customer_with_phone_number_in_other_notation(account: str) -> None:
    first = create(account, phoneNumber="+33 (0)6 12 34 56 78")
    second = create(account, phoneNumber="+330612345678")
    pair = pair_of(None, "+330612345678")
    assert pair
    erase(account, first.id)
    assert customers.find_by_pair(account, pair.digest) == second.id


def test_pair_row_that_is_not_visible_yet_is_deleted_with_its_customer(account: str) -> None:
    customer = create(account, **PAIR)
    pair = pair_of(PAIR["email"], PAIR["phoneNumber"])
    assert pair
    row = CustomerPairRow(account_key(account, pair.digest), customer_id=customer.id)
    row.delete()
    erasure = start_erasure(account, customer.id, OPERATOR)
    with before_request("TransactWriteItems", row.save):
        continue_erasure(erasure.pointer)
    assert customers.find_by_pair(account, pair.digest) is None


def test_pair_stays_with_oldest_customer_if_newer_customer_is_erased(account: str) -> None:
    first, second = create(account, **PAIR), create(account, **PAIR)
    erase(account, second.id)
    pair = pair_of(PAIR["email"], PAIR["phoneNumber"])
    assert pair
    assert customers.find_by_pair(account, pair.digest) == first.id


@pytest.mark.parametrize("erased_first", [False, True])
def test_other_customer_with_same_pair_is_not_erased_by_later_pass(
    account: str, time: Time, erased_first: bool
) -> None:
    customer, other = create(account, **PAIR), create(account, **PAIR)
    if not erased_first:
        customer, other = other, customer
    erase(account, customer.id)
    assert erased(finish(account, customer.id, time)) == {"customers": 1}
    assert ids(all_customers(account)) == [other.id]


def test_repeated_erasure_has_no_further_effect(account: str, time: Time) -> None:
    customer, other = create(account, **PAIR), create(account)
    erase(account, customer.id)
    assert erased(erase(account, customer.id)) == {"customers": 1}
    ended = finish(account, customer.id, time)
    assert start_erasure(account, customer.id, OPERATOR) == ended
    assert (ended.customer_id, ended.pair_digest) == (None, None)
    assert ids(all_customers(account)) == [other.id]


def test_erasure_ends_only_after_second_pass(account: str, time: Time) -> None:
    customer = create(account)
    assert erase(account, customer.id).state is WorkState.PENDING
    assert erase(account, customer.id).state is WorkState.PENDING
    time.ahead += timedelta(minutes=16)
    ended = erase(account, customer.id)
    assert ended.state is WorkState.DONE
    receipt = build_receipt(ended)
    assert receipt["erased"]["customers"] == 1
    assert all(copy["expiresAt"] > receipt["endedAt"] for copy in receipt["remainingCopies"])


def test_erasure_does_not_end_with_pass_that_started_too_early(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = create(account)
    erase(account, customer.id)
    find = trackers.rows_of_customer

    def find_slowly(account_id: str, customer_id: str) -> Iterator[Tracker]:
        time.ahead += timedelta(minutes=16)
        return find(account_id, customer_id)

    monkeypatch.setattr(trackers, "rows_of_customer", find_slowly)
    assert erase(account, customer.id).state is WorkState.PENDING


def test_address_that_customer_gets_after_request_is_suppressed(account: str, time: Time) -> None:
    customer = create(account, **PAIR)
    start_erasure(account, customer.id, OPERATOR)
    changed = {"email": "new@example.test", "phoneNumber": "06 99 99 99 99"}
    save_customer(account, {"id": customer.id, **changed})
    ended = finish(account, customer.id, time)
    assert ended.contacts == current_keys(account, PAIR["email"], PAIR["phoneNumber"])
    keys = [
        current_keys(account, "new@example.test", None)[Channel.EMAIL],
        current_keys(account, None, "06 99 99 99 99")[Channel.SMS],
        current_keys(account, PAIR["email"], None)[Channel.EMAIL],
        current_keys(account, None, PAIR["phoneNumber"])[Channel.SMS],
    ]
    suppressed = contacts.find_many([key for key in keys if key])
    assert [set(suppressed[key or ""].suppressed.values()) for key in keys] == [{"ERASED"}] * 4


def delete_after(account: str, customer_id: str, action: Callable[[], object]) -> None:
    """Run the first pass of an erasure, and the action just before it deletes the customer."""
    erasure = start_erasure(account, customer_id, OPERATOR)
    with before_request("TransactWriteItems", action):
        continue_erasure(erasure.pointer)


@pytest.mark.parametrize(
    ("channel", "field", "address"),
    [
        (Channel.EMAIL, "email", "new@example.test"),
        (Channel.SMS, "phoneNumber", "06 99 99 99 99"),
    ],
)
def test_address_that_customer_gets_during_its_deletion_is_suppressed(
    account: str, channel: Channel, field: str, address: str
) -> None:
    customer = create(account, **PAIR)
    changed = {"id": customer.id, field: address}
    delete_after(account, customer.id, lambda: save_customer(account, changed))
    assert customers.find(account, customer.id) is None
    key = current_keys(account, address, address)[channel]
    assert contacts.find_many([key])[key].suppressed == {channel: "ERASED"}


def test_customer_that_gets_position_during_its_deletion_leaves_no_gap(account: str) -> None:
    listed = create(account)
    counters.reserve(account, Listed.CUSTOMERS, clock.now())
    unlisted = create(account)
    key = account_key(account, unlisted.id)
    delete_after(
        account, unlisted.id, lambda: customer_creation.assign_positions(account, [key], 1)
    )
    assert ids(all_customers(account)) == [listed.id]
    assert customer_positions(account).load_total() == 1


def test_customer_that_is_imported_during_deletion_moves_into_position(account: str) -> None:
    first, second = create(account), create(account)

    def import_a_row() -> None:
        accept_batch(account, {"batch": [{"firstName": "Imported"}]})
        IMPORT_QUEUE.deliver_all(account)

    delete_after(account, first.id, import_a_row)
    imported, last = all_customers(account)
    assert (imported.first_name, last.id) == ("Imported", second.id)


def test_last_customer_of_outdated_index_is_not_created_again(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = create(account), create(account)
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.0)
    with pytest.raises(Unavailable):
        delete_after(account, first.id, CustomerRow(account_key(account, last.id)).delete)
    assert customers.find(account, last.id) is None


def test_receipt_names_channel_that_customer_gets_after_request(account: str, time: Time) -> None:
    customer = create(account, email="zoe@example.test")
    start_erasure(account, customer.id, OPERATOR)
    save_customer(account, {"id": customer.id, "phoneNumber": "+33612345678"})
    ended = finish(account, customer.id, time)
    assert build_receipt(ended)["suppressedChannels"] == ["EMAIL", "SMS"]


def test_unknown_customer_cannot_be_erased(account: str) -> None:
    customer = create(account)
    with pytest.raises(NotFound):
        start_erasure(account, new_id(), OPERATOR)
    with pytest.raises(NotFound):
        start_erasure(new_id(), customer.id, OPERATOR)
    assert ids(all_customers(account)) == [customer.id]


def test_first_pass_for_customer_without_records_sends_few_requests(account: str) -> None:
    create(account)
    customer = create(account, **PAIR)
    create(account)
    with counted_calls() as calls:
        erase(account, customer.id)
    assert calls.total() <= 27


def test_slow_clock_of_operator_does_not_change_time_of_erasure(account: str, time: Time) -> None:
    customer = create(account, **PAIR)
    before = clock.now()
    with wrong_clock(timedelta(minutes=-4)):
        erasure = start_erasure(account, customer.id, OPERATOR)
    assert before <= erasure.erased_at <= clock.now() + timedelta(seconds=1)


def test_receipt_names_other_customers_with_same_address(account: str, time: Time) -> None:
    customer = create(account, email="zoe@example.test", phoneNumber="+33612345678")
    same_email = create(account, email="ZOE@example.test")
    same_number = create(account, phoneNumber="0033 6 12 34 56 78")
    create(account, email="max@example.test")
    started = build_receipt(erase(account, customer.id))
    others = sorted([same_email.id, same_number.id])
    assert started["otherCustomers"] == {"count": 2, "ids": others}
    ended = build_receipt(finish(account, customer.id, time))
    assert ended["otherCustomers"] == {"count": 2, "ids": []}
