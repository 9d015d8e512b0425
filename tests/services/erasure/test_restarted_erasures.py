"""Test that late steps of an erasure do not change one that has ended or started again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from admin.services.customers.save import save_customer
from chalicelib.domain import clock
from chalicelib.domain.erasure.erasure import Erased, Erasure
from chalicelib.domain.ids import new_id
from chalicelib.services.erasure.erase import start_erasure
from chalicelib.storage import erasures
from chalicelib.storage.dynamodb.unit_of_work import Contention, transaction
from tests.aws.faults import before_request
from tests.services.erasure.erasing import OPERATOR
from tests.services.moved_time import Time


@pytest.fixture
def customer_id(account: str) -> str:
    return save_customer(account, {"id": new_id(), "email": "zoe@example.test"}).id


def put(erasure: Erasure, earlier: Erasure) -> None:
    with transaction() as write:
        erasures.put(write, erasure, earlier)


def test_erasure_requested_during_request_is_not_replaced(
    account: str, customer_id: str, time: Time
) -> None:
    def request_later() -> None:
        time.ahead += timedelta(seconds=5)
        start_erasure(account, customer_id, "another operator")

    with before_request("TransactWriteItems", request_later):
        erasure = start_erasure(account, customer_id, OPERATOR)
    assert erasure == erasures.find(erasure.id)
    assert erasure.operator == "another operator"


@pytest.mark.parametrize("is_restarted", [False, True])
def test_late_steps_of_erasure_have_no_effect(
    account: str, customer_id: str, is_restarted: bool
) -> None:
    late = start_erasure(account, customer_id, OPERATOR)
    assert erasures.finish(late, clock.now())
    ended = erasures.find(late.id)
    assert ended
    if is_restarted:
        put(replace(late, erased_at=late.erased_at + timedelta(days=1)), ended)
    before = erasures.find(late.id)
    with pytest.raises(Contention), transaction() as write:
        erasures.count(write, late, {Erased.FEEDBACK: 1})
    assert not erasures.finish(late, clock.now() + timedelta(days=2))
    row = erasures.ErasureRow.find(late.id)
    erasures.schedule(late, clock.now() + timedelta(days=2))
    after = erasures.ErasureRow.find(late.id)
    assert row
    assert after
    assert after.due_at == row.due_at
    assert erasures.find(late.id) == before


@pytest.mark.parametrize("changed", ["ended", "restarted"])
def test_erasure_is_replaced_only_as_it_was_loaded(
    account: str, customer_id: str, changed: str
) -> None:
    loaded = start_erasure(account, customer_id, OPERATOR)
    assert erasures.finish(loaded, clock.now())
    ended = erasures.find(loaded.id)
    assert ended
    later = replace(loaded, erased_at=loaded.erased_at + timedelta(days=1))
    if changed == "restarted":
        put(later, ended)
    with pytest.raises(Contention):
        put(later, loaded if changed == "ended" else ended)


@pytest.mark.parametrize("kind", Erased)
def test_erasure_does_not_finish_if_records_were_erased_meanwhile(
    account: str, customer_id: str, kind: Erased
) -> None:
    erasure = erasures.find(start_erasure(account, customer_id, OPERATOR).id)
    assert erasure
    with transaction() as write:
        erasures.count(write, erasure, {kind: 1})
    assert not erasures.finish(erasure, clock.now())
