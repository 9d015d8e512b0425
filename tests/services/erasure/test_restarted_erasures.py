"""Test that late steps of an erasure do not change one that has ended or started again."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from admin.services.customers.save import save_customer
from chalicelib.domain.erasure.erasure import Erased, Erasure
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.work import WorkState
from chalicelib.services.erasure.erase import start_erasure
from chalicelib.storage import erasures
from chalicelib.storage.dynamodb.table import Key, find_row
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows, commit
from chalicelib.storage.erasures import ErasureRow
from tests.aws.faults import before_request
from tests.services.erasure.erasing import OPERATOR
from tests.services.moved_time import Time


@pytest.fixture
def customer_id(account: str) -> str:
    return save_customer(account, {"id": new_id(), "email": "zoe@example.test"}).id


def put(erasure: Erasure) -> None:
    """Replace an erasure that has ended."""

    def use_case(rows: Rows) -> None:
        rows.prefetch(Key(ErasureRow, erasure.id))
        erasures.save(rows, erasure)

    commit(use_case)


def count(erasure: Erasure, kind: Erased = Erased.FEEDBACK) -> None:
    commit(partial(erasures.count, erasure=erasure, numbers={kind: 1}))


def end_pass(erasure: Erasure, *, is_last: bool = True) -> Erasure:
    """End a pass of an erasure as it was started, and return the stored erasure."""
    erasure = replace(erasure, counts=dict.fromkeys(Erased, 0))
    ended = commit(
        partial(erasures.end_pass, erasure=erasure, recheck=timedelta(days=2), is_last=is_last)
    )
    assert ended == erasures.find(erasure.id)
    assert ended
    return ended


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
    account: str, customer_id: str, is_restarted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = start_erasure(account, customer_id, OPERATOR)
    assert end_pass(late).state is WorkState.DONE
    if is_restarted:
        put(replace(late, erased_at=late.erased_at + timedelta(days=1)))
    before = find_row(Key(ErasureRow, late.id))
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.0)
    with pytest.raises(Unavailable):
        count(late)
    end_pass(late)
    after = find_row(Key(ErasureRow, late.id))
    assert before
    assert after
    assert after.attribute_values == before.attribute_values


@pytest.mark.parametrize("is_restarted", [False, True])
def test_erasure_that_changes_during_end_of_pass_stays_as_it_is(
    account: str, customer_id: str, is_restarted: bool
) -> None:
    late, changed = start_erasure(account, customer_id, OPERATOR), []

    def change() -> None:
        end_pass(late)
        if is_restarted:
            put(replace(late, erased_at=late.erased_at + timedelta(days=1)))
        changed.append(ErasureRow.get(late.id).attribute_values)

    with before_request(1, change):
        end_pass(late, is_last=False)
    assert ErasureRow.get(late.id).attribute_values == changed[0]


@pytest.mark.parametrize("is_restarted", [False, True])
def test_erasure_is_replaced_only_as_it_was_loaded(
    account: str, customer_id: str, is_restarted: bool
) -> None:
    loaded = start_erasure(account, customer_id, OPERATOR)
    rows = Rows()
    rows.prefetch(Key(ErasureRow, loaded.id))
    erasures.save(rows, replace(loaded, erased_at=loaded.erased_at + timedelta(days=2)))
    end_pass(loaded)
    if is_restarted:
        put(replace(loaded, erased_at=loaded.erased_at + timedelta(days=1)))
    with pytest.raises(Contention):
        rows.send()


def test_restarted_erasure_counts_from_zero(account: str, customer_id: str) -> None:
    first = start_erasure(account, customer_id, OPERATOR)
    count(first)
    put(replace(first, erased_at=first.erased_at + timedelta(days=1)))
    restarted = erasures.find(first.id)
    assert restarted
    assert set(restarted.counts.values()) == {0}
    assert restarted.last_found_at is None


def test_restarted_erasure_does_not_count_records_that_are_erased_meanwhile(
    account: str, customer_id: str
) -> None:
    first = start_erasure(account, customer_id, OPERATOR)
    with before_request("UpdateItem", lambda: count(first)):
        put(replace(first, erased_at=first.erased_at + timedelta(days=1)))
    restarted = erasures.find(first.id)
    assert restarted
    assert set(restarted.counts.values()) == {0}
    assert restarted.last_found_at is None


@pytest.mark.parametrize("kind", Erased)
@pytest.mark.parametrize("is_during_end", [False, True])
def test_erasure_does_not_finish_if_records_were_erased_meanwhile(
    account: str, customer_id: str, kind: Erased, is_during_end: bool
) -> None:
    erasure = start_erasure(account, customer_id, OPERATOR)
    with before_request(1 if is_during_end else 0, lambda: count(erasure, kind)):
        ended = end_pass(erasure)
    assert ended.state is WorkState.PENDING
