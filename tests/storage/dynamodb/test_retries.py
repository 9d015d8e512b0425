"""Test that throttled requests are retried with backoff until the retry time is used up."""

from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from chalicelib import backoff
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerPairRow
from chalicelib.storage.dynamodb.table import put_all, read_together
from chalicelib.storage.dynamodb.transactions import Contention, transaction, try_write
from chalicelib.storage.forms import contact_forms
from chalicelib.time_limits import MIN_CALL_S, REQUEST_RETRY_S, WORK_RETRY_S, invocation
from tests.services.faults import InjectedFault, inject_fault

pytestmark = pytest.mark.usefixtures("cloud")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the pauses between retries instead of sleeping. Each pause has its maximum length."""
    recorded: list[float] = []
    monkeypatch.setattr(backoff.time, "sleep", recorded.append)
    monkeypatch.setattr(backoff.random, "uniform", lambda _, longest: longest)
    return recorded


class Context:
    def __init__(self, left_s: float) -> None:
        self.left_s = left_s

    def get_remaining_time_in_millis(self) -> int:
        return int(self.left_s * 1000)


def cancelled(*codes: str) -> ClientError:
    reasons = [{"Code": code} for code in codes]
    error: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": ""},
        "CancellationReasons": reasons,
    }
    return ClientError(error, "TransactWriteItems")


def fail_requests(patch: pytest.MonkeyPatch, error: ClientError, times: int) -> list[Any]:
    """Make the first ``times`` requests fail with ``error``.

    Return a list to which each request adds its arguments.
    """
    real, sent = BaseClient._make_api_call, []  # type: ignore[attr-defined]

    def request(client: BaseClient, operation: str, arguments: Any) -> Any:
        sent.append(arguments)
        if len(sent) <= times:
            raise error
        return real(client, operation, arguments)

    patch.setattr(BaseClient, "_make_api_call", request)
    return sent


def save_counter(account: str) -> None:
    """Save a counter, and another row, in one transaction."""
    with transaction() as write:
        write.save(CounterRow(account, Listed.CUSTOMERS.value, total=3))
        write.save(CustomerPairRow(account, customer_id=account))


def total_of(account: str) -> Any:
    (row,) = read_together((CounterRow, account, Listed.CUSTOMERS.value))
    return row and row.total


def test_throttled_transaction_is_retried_with_same_request_token(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    account = new_id()
    sent = fail_requests(monkeypatch, cancelled("None", "ThrottlingError"), times=4)
    save_counter(account)
    assert total_of(account) == 3
    assert pauses == [0.01, 0.02, 0.04, 0.08]
    assert len({request["ClientRequestToken"] for request in sent[:5]}) == 1


def test_transaction_conflict_is_raised_without_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    error = cancelled("ThrottlingError", "TransactionConflict")
    sent = fail_requests(monkeypatch, error, times=1)
    with pytest.raises(Contention) as raised:
        save_counter(new_id())
    assert (raised.value.condition_failed, len(sent)) == (False, 1)


@pytest.mark.parametrize("limit_s", [REQUEST_RETRY_S, WORK_RETRY_S])
def test_retries_end_when_retry_time_is_used_up(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float], limit_s: float
) -> None:
    fail_requests(monkeypatch, cancelled("None", "ThrottlingError"), times=1_000)
    with invocation(None, retry_s=limit_s), pytest.raises(Unavailable):
        save_counter(new_id())
    assert limit_s - 0.4 <= sum(pauses) <= limit_s


def test_retries_end_when_little_time_is_left(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    context = Context(MIN_CALL_S + 0.5)
    sent = fail_requests(monkeypatch, cancelled("None", "ThrottlingError"), times=1_000)

    def sleep(pause_s: float) -> None:
        context.left_s -= pause_s

    monkeypatch.setattr(backoff.time, "sleep", sleep)
    with invocation(context, retry_s=WORK_RETRY_S), pytest.raises(Unavailable):
        save_counter(new_id())
    assert context.left_s >= MIN_CALL_S
    assert len(sent) == 6


def test_no_request_is_sent_if_less_than_8_seconds_are_left() -> None:
    account = new_id()
    with invocation(Context(MIN_CALL_S - 0.1)), pytest.raises(Unavailable, match="time is left"):
        save_counter(account)
    assert total_of(account) is None


def test_unprocessed_keys_of_batch_are_read_again_after_a_pause(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    accounts = [new_id() for _ in range(4)]
    for account in accounts:
        save_counter(account)
    with inject_fault(monkeypatch, 0, InjectedFault.PARTIAL_SUCCESS) as requests:
        rows = read_together(*((CounterRow, account, "customers") for account in accounts))
    assert [row.account_id for row in rows] == accounts
    assert (requests.operations, pauses) == (["BatchGetItem"] * 2, [0.01])


def test_unprocessed_documents_of_page_are_read_again_after_a_pause(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    account, form_ids = new_id(), [new_id() for _ in range(4)]
    for form_id in form_ids:
        contact_forms.save(account, form_id, b"{}", {})
    with inject_fault(monkeypatch, 2, InjectedFault.PARTIAL_SUCCESS) as requests:
        forms, _ = contact_forms.page(account, PageRequest())
    assert [form.form_id for form in forms] == form_ids
    assert requests.operations[2:] == ["BatchGetItem"] * 2
    assert pauses == [0.01]


def test_unprocessed_items_of_batch_are_written_again_after_a_pause(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    accounts = [new_id() for _ in range(30)]
    rows = [CounterRow(account, Listed.CUSTOMERS.value, total=1) for account in accounts]
    with inject_fault(monkeypatch, 0, InjectedFault.PARTIAL_SUCCESS) as requests:
        put_all(rows)
    assert (requests.operations, pauses) == (["BatchWriteItem"] * 3, [0.01])
    assert {total_of(account) for account in accounts} == {1}


CONFLICT: Any = ClientError(
    {"Error": {"Code": "TransactionConflictException", "Message": ""}}, "UpdateItem"
)


def count_fourth(account: str) -> bool:
    return try_write(
        lambda: CounterRow(account, Listed.CUSTOMERS.value).update(
            [CounterRow.total.set(4)], condition=CounterRow.total == 3
        )
    )


def test_conditional_write_is_retried_after_transaction_conflict(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    account = new_id()
    save_counter(account)
    fail_requests(monkeypatch, CONFLICT, times=3)
    assert count_fourth(account)
    assert (total_of(account), pauses) == (4, [0.01, 0.02, 0.04])


def test_conditional_write_reports_failed_condition_after_transaction_conflict(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    account = new_id()
    fail_requests(monkeypatch, CONFLICT, times=1)
    assert not count_fourth(account)
    assert total_of(account) is None


def test_conditional_write_fails_if_transaction_conflict_persists(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    account = new_id()
    save_counter(account)
    fail_requests(monkeypatch, CONFLICT, times=1_000)
    with pytest.raises(Unavailable):
        count_fourth(account)


def test_transaction_throttled_only_at_counter_raises_contention(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    sent = fail_requests(monkeypatch, cancelled("ThrottlingError", "None"), times=1)
    with pytest.raises(Contention) as raised:
        save_counter(new_id())
    assert (raised.value.condition_failed, raised.value.is_only_on(CounterRow)) == (False, True)
    assert (len(sent), pauses) == (1, [])
