"""Test that throttled requests are retried with backoff until the retry time is used up."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from admin.services.definitions.kinds import SURVEY, save
from chalicelib import backoff
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.storage.counters import CounterRow, Listed, counter_key
from chalicelib.storage.customers import CustomerPairRow
from chalicelib.storage.dynamodb.conditional_writes import try_write
from chalicelib.storage.dynamodb.table import Key, put_all, read_together
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows
from chalicelib.storage.forms import surveys
from chalicelib.time_limits import MIN_CALL_S, REQUEST_RETRY_S, WORK_RETRY_S, invocation
from tests.aws.faults import InjectedFault, failing, inject_fault, repeating
from tests.aws.tables import cancelled, error
from tests.domain.forms.factories import survey
from tests.lambda_context import LambdaContext

pytestmark = pytest.mark.usefixtures("cloud")

Fail = Callable[[Exception, int], list[Any]]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the pauses between retries instead of sleeping. Each pause has its maximum length."""
    recorded: list[float] = []
    monkeypatch.setattr(backoff.time, "sleep", recorded.append)
    monkeypatch.setattr(backoff.random, "uniform", lambda _, longest: longest)
    return recorded


@pytest.fixture
def fail_requests() -> Iterator[Fail]:
    """Return a function that makes the next requests fail, as `failing` does."""
    with ExitStack() as stack:
        yield lambda failure, times: stack.enter_context(failing(failure, times))


def save_counter(account: str) -> None:
    """Save a counter, and another row, in one transaction."""
    rows = Rows()
    rows.create(counter_key(account, Listed.CUSTOMERS)).total = 3
    rows.create(Key(CustomerPairRow, account)).customer_id = account
    rows.send()


def total_of(account: str) -> Any:
    (row,) = read_together(counter_key(account, Listed.CUSTOMERS))
    return row and row.total


def test_throttled_transaction_is_retried_with_same_request_token(
    fail_requests: Fail, pauses: list[float]
) -> None:
    account = new_id()
    sent = fail_requests(cancelled("None", "ThrottlingError"), 4)
    save_counter(account)
    assert total_of(account) == 3
    assert pauses == [0.01, 0.02, 0.04, 0.08]
    assert len({request["ClientRequestToken"] for request in sent[:5]}) == 1


def test_transaction_that_is_sent_twice_has_one_effect() -> None:
    account = new_id()
    rows, key = Rows(), counter_key(account, Listed.CUSTOMERS)
    rows.expect(key, CounterRow.total, None)
    rows.add(key, CounterRow.total, 1)
    with repeating("TransactWriteItems") as repeated:
        rows.send()
    assert (repeated.operations, total_of(account)) == (["TransactWriteItems"], 1)


def test_transaction_conflict_is_raised_without_retry(fail_requests: Fail) -> None:
    sent = fail_requests(cancelled("ThrottlingError", "TransactionConflict"), 1)
    with pytest.raises(Contention) as raised:
        save_counter(new_id())
    reasons = [failed.reason for failed in raised.value.failures]
    assert (reasons, len(sent)) == (["ThrottlingError", "TransactionConflict"], 1)


@pytest.mark.parametrize("limit_s", [REQUEST_RETRY_S, WORK_RETRY_S])
def test_retries_end_when_retry_time_is_used_up(
    fail_requests: Fail, pauses: list[float], limit_s: float
) -> None:
    fail_requests(cancelled("None", "ThrottlingError"), 1_000)
    with invocation(None, retry_s=limit_s), pytest.raises(Unavailable):
        save_counter(new_id())
    assert limit_s - 0.4 <= sum(pauses) <= limit_s


def test_retries_end_when_little_time_is_left(
    monkeypatch: pytest.MonkeyPatch, fail_requests: Fail, pauses: list[float]
) -> None:
    context = LambdaContext(MIN_CALL_S + 0.5)
    sent = fail_requests(cancelled("None", "ThrottlingError"), 1_000)

    def sleep(pause_s: float) -> None:
        context.left_s -= pause_s

    monkeypatch.setattr(backoff.time, "sleep", sleep)
    with invocation(context, retry_s=WORK_RETRY_S), pytest.raises(Unavailable):
        save_counter(new_id())
    assert context.left_s >= MIN_CALL_S
    assert len(sent) == 6


def test_no_request_is_sent_if_less_than_8_seconds_are_left() -> None:
    account = new_id()
    with (
        invocation(LambdaContext(MIN_CALL_S - 0.1)),
        pytest.raises(Unavailable, match="time is left"),
    ):
        save_counter(account)
    assert total_of(account) is None


def test_unprocessed_keys_of_batch_are_read_again_after_a_pause(pauses: list[float]) -> None:
    accounts = [new_id() for _ in range(4)]
    for account in accounts:
        save_counter(account)
    with inject_fault(0, InjectedFault.PARTIAL_SUCCESS) as requests:
        rows = read_together(*(counter_key(each, Listed.CUSTOMERS) for each in accounts))
    assert [row.account_id for row in rows] == accounts
    assert (requests.operations, pauses) == (["BatchGetItem"] * 2, [0.01])


def test_unprocessed_documents_of_page_are_read_again_after_a_pause(pauses: list[float]) -> None:
    account, form_ids = new_id(), [new_id() for _ in range(4)]
    for form_id in form_ids:
        save(SURVEY, account, survey(id=form_id))
    with inject_fault(2, InjectedFault.PARTIAL_SUCCESS) as requests:
        forms, _ = surveys.page(account, PageRequest())
    assert [form.form_id for form in forms] == form_ids
    assert requests.operations[2:] == ["BatchGetItem"] * 2
    assert pauses == [0.01]


def test_unprocessed_items_of_batch_are_written_again_after_a_pause(pauses: list[float]) -> None:
    accounts = [new_id() for _ in range(30)]
    rows = [CounterRow(account, Listed.CUSTOMERS.value, total=1) for account in accounts]
    with inject_fault(0, InjectedFault.PARTIAL_SUCCESS) as requests:
        put_all(rows)
    assert (requests.operations, pauses) == (["BatchWriteItem"] * 3, [0.01])
    assert {total_of(account) for account in accounts} == {1}


CONFLICT = error("UpdateItem", "TransactionConflictException")


def count_fourth(account: str) -> bool:
    return try_write(
        lambda: CounterRow(account, Listed.CUSTOMERS.value).update(
            [CounterRow.total.set(4)], condition=CounterRow.total == 3
        )
    )


def test_conditional_write_is_retried_after_transaction_conflict(
    fail_requests: Fail, pauses: list[float]
) -> None:
    account = new_id()
    save_counter(account)
    fail_requests(CONFLICT, 3)
    assert count_fourth(account)
    assert (total_of(account), pauses) == (4, [0.01, 0.02, 0.04])


def test_conditional_write_reports_failed_condition_after_transaction_conflict(
    fail_requests: Fail, pauses: list[float]
) -> None:
    account = new_id()
    fail_requests(CONFLICT, 1)
    assert not count_fourth(account)
    assert total_of(account) is None


def test_conditional_write_fails_if_transaction_conflict_persists(
    fail_requests: Fail, pauses: list[float]
) -> None:
    account = new_id()
    save_counter(account)
    fail_requests(CONFLICT, 1_000)
    with pytest.raises(Unavailable):
        count_fourth(account)


def test_transaction_throttled_only_at_counter_raises_contention(
    fail_requests: Fail, pauses: list[float]
) -> None:
    sent = fail_requests(cancelled("ThrottlingError", "None"), 1)
    with pytest.raises(Contention) as raised:
        save_counter(new_id())
    failures = [(failed.key.model, failed.reason) for failed in raised.value.failures]
    assert failures == [(CounterRow, "ThrottlingError")]
    assert (len(sent), pauses) == (1, [])
