"""Test that the result of an import does not change if any one of its AWS requests fails."""

import contextlib
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from admin.services.work.parked import list_parked_work, replay
from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.import_batch import AcceptedBatch
from chalicelib.domain.errors import IdempotencyKeyReused, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.queues import IMPORTS as IMPORTS_QUEUE
from chalicelib.queues import MAX_RECEIVES
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.customers.create import create_customer
from chalicelib.services.work.sweep import sweep
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.imports import ImportRow
from tests.aws.faults import InjectedFault, Killed, before_request, failing, inject_fault
from tests.aws.requests import Request, responding
from tests.aws.tables import cancelled, error
from tests.services.customers.importing import (
    accept_batch,
    all_customers,
    outcome_counts,
    run_import,
)
from tests.services.kinds import IMPORTS
from tests.services.moved_time import Time
from tests.services.queues import IMPORT_QUEUE

pytestmark = pytest.mark.usefixtures("small_chunks")

BATCH = {
    "batch": [
        *({"email": f"p{n}@example.test", "firstName": f"P{n}"} for n in range(4)),
        {"email": "known@example.test", "company": "Lumen"},
        {"email": "known@example.test", "company": "Other"},
        {"firstName": "No pair"},
    ]
}
EXPECTED = {"created": 5, "filled": 1, "unchanged": 1}
REQUESTS = [
    "BatchGetItem",  # look up the idempotency key
    "BatchWriteItem",  # write the chunks
    "PutItem",  # write the header
    "SendMessageBatch",
    "BatchGetItem",  # read the first chunk
    "TransactWriteItems",
    "BatchGetItem",  # read the second chunk
    "BatchGetItem",  # read the existing customers with the pairs of the second chunk
    "TransactWriteItems",
]


def accept(account: str) -> str:
    """Send the batch. Retry once with the same idempotency key after an error."""
    with contextlib.suppress(Exception, Killed):  # the injected fault
        return accept_batch(account, BATCH, idempotency_key="key").id
    return accept_batch(account, BATCH, idempotency_key="key").id


def deliver_all(account: str) -> None:
    """Process the account's messages one by one, and redeliver failed messages."""
    IMPORT_QUEUE.deliver_all(account, batch_size=1)


def finish(account: str, import_id: str, time: Time) -> None:
    """Move the clock ahead by an hour, sweep and deliver messages until the import ends."""
    for _ in range(30):
        if read_import(account, import_id).completed_at:
            return
        time.ahead += timedelta(hours=1)
        sweep(IMPORTS)
        deliver_all(account)
    raise AssertionError("The import did not end.")


def test_import_sends_expected_aws_requests(account: str, time: Time) -> None:
    create_customer(account, parse({"email": "known@example.test"}, CustomerBody))
    with inject_fault() as requests:
        accept(account)
        IMPORT_QUEUE.deliver(IMPORT_QUEUE.queued_messages(account))
    assert requests.operations == REQUESTS


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_single_aws_fault_does_not_change_import_result(
    account: str, time: Time, number: int, fault: InjectedFault
) -> None:
    create_customer(account, parse({"email": "known@example.test"}, CustomerBody))
    with inject_fault(number, fault):
        import_id = accept(account)
        deliver_all(account)
    finish(account, import_id, time)
    progress = read_import(account, import_id)
    assert (progress.status, outcome_counts(progress)) == ("COMPLETED", EXPECTED)
    customers = all_customers(account)
    assert sorted((c.first_name or "", c.company or "") for c in customers) == sorted(
        [(f"P{n}", "") for n in range(4)] + [("", "Lumen"), ("No pair", "")]
    )
    assert_no_work_remains(account, time)


def assert_no_work_remains(account: str, time: Time) -> None:
    """Check that later sweeps queue nothing, not even chunks of batches that were not accepted."""
    for _ in range(2):
        deliver_all(account)
        time.ahead += timedelta(days=1)
        sweep(IMPORTS)
    assert IMPORT_QUEUE.queued_messages(account) == []


def test_unaccepted_batch_is_never_imported(account: str, time: Time) -> None:
    with inject_fault(1, InjectedFault.KILLED_BEFORE), pytest.raises(Killed):
        accept_batch(account, BATCH)  # killed after the chunks are saved, before the header
    for _ in range(4):
        time.ahead += timedelta(minutes=40)
        sweep(IMPORTS)
        deliver_all(account)
    assert all_customers(account) == []
    assert_no_work_remains(account, time)


def test_overdue_chunk_is_requeued_once_by_two_sweeps(account: str, time: Time) -> None:
    accept_batch(account, {"batch": [{"firstName": "A"}]})
    IMPORT_QUEUE.queued_messages(account)
    sweep(IMPORTS)
    assert IMPORT_QUEUE.queued_messages(account) == []
    time.ahead += timedelta(minutes=3)
    sweep(IMPORTS)
    sweep(IMPORTS)
    assert len(IMPORT_QUEUE.queued_messages(account)) == 1


def fail_customer_list_writes(patch: pytest.MonkeyPatch, account: str) -> Any:
    """Make every update of the account's customer total fail."""

    def fail(_rows: object, counter: Key[CounterRow]) -> None:
        if counter.hash_key == account:
            raise RuntimeError("poison")

    patch.setattr("chalicelib.services.customers.import_chunk.next_position", fail)


def test_failing_chunk_is_parked_and_does_not_block_other_imports(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}, {"firstName": "B"}]})
    other = new_id()
    other_import = accept_batch(other, {"batch": [{"firstName": "C"}]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with monkeypatch.context() as patch:
        fail_customer_list_writes(patch, account)
        for _ in range(7):
            assert IMPORT_QUEUE.deliver(bodies) == []
            assert read_import(account, accepted.id).status == "QUEUED"
        assert IMPORT_QUEUE.deliver(bodies) == []
    progress = read_import(account, accepted.id)
    assert (progress.status, outcome_counts(progress)) == ("FAILED", {"failed": 2})
    assert [(error.index, error.code) for error in progress.errors] == [
        (0, "not_done"),
        (1, "not_done"),
    ]
    time.ahead += timedelta(hours=2)
    sweep(IMPORTS)
    deliver_all(other)
    assert outcome_counts(read_import(other, other_import.id)) == {"created": 1}
    IMPORT_QUEUE.deliver(bodies)
    assert all_customers(account) == []


def test_operator_replay_completes_parked_chunk(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with monkeypatch.context() as patch:
        fail_customer_list_writes(patch, account)
        for _ in range(8):
            IMPORT_QUEUE.deliver(bodies)
    (parked,) = [work for work in list_parked_work() if work.account_id == account]
    assert (parked.kind, parked.owner_id, parked.claims) == ("import", accepted.id, 8)
    assert parked.reason == "RuntimeError"
    details = {error.detail for error in read_import(account, accepted.id).errors}
    assert "RuntimeError" not in "".join(details)
    replay(parked.owner_id, parked.part)
    progress = run_import(account, accepted.id)
    assert (progress.status, outcome_counts(progress), progress.errors) == (
        "COMPLETED", {"created": 1}, ()
    )  # fmt: skip
    assert [work for work in list_parked_work() if work.account_id == account] == []


def test_chunk_that_always_kills_function_is_parked(account: str, time: Time) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    import_id = accepted.id
    for receive_count in range(1, 10):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("chalicelib.services.customers.import_chunk.commit", _kill)
            with pytest.raises(Killed):
                IMPORT_QUEUE.deliver(bodies, receive_count)
        time.ahead += timedelta(minutes=3)  # the visibility time-out of the queue
    IMPORT_QUEUE.deliver(bodies, MAX_RECEIVES)
    assert read_import(account, import_id).status == "FAILED"


def test_replay_of_import_includes_every_parked_chunk(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 1)
    monkeypatch.setattr("admin.services.work.parked.MAX_LISTED", 10)
    rows = [{"firstName": f"P{n}"} for n in range(15)]
    accepted = accept_batch(account, {"batch": rows})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with monkeypatch.context() as patch:
        patch.setattr("chalicelib.storage.dynamodb.work_records.MAX_CLAIMS", 1)
        fail_customer_list_writes(patch, account)
        IMPORT_QUEUE.deliver(bodies)
    assert len(list_parked_work()) == 10
    assert replay(accepted.id) == 15
    assert outcome_counts(run_import(account, accepted.id)) == {"created": 15}


def test_throttled_request_does_not_count_as_failure_of_chunk(account: str, time: Time) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    for _ in range(9):
        with inject_fault(0, InjectedFault.THROTTLED):
            assert IMPORT_QUEUE.deliver(bodies) == []
    finish(account, accepted.id, time)
    assert outcome_counts(read_import(account, accepted.id)) == {"created": 1}


def test_failure_is_not_counted_for_chunk_that_follows_chunk_that_kills_worker(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    killing = accept_batch(account, {"batch": [{"firstName": "A"}]})
    (first,) = IMPORT_QUEUE.queued_messages(account)
    waiting = accept_batch(account, {"batch": [{"firstName": "B"}]})
    (second,) = IMPORT_QUEUE.queued_messages(account)
    with monkeypatch.context() as patch:
        patch.setattr("chalicelib.services.customers.import_chunk.commit", _kill)
        for receive_count in range(1, MAX_RECEIVES):
            with pytest.raises(Killed):
                IMPORT_QUEUE.deliver([first, second], receive_count)
            time.ahead += timedelta(minutes=3)  # the visibility time-out of the queue
    IMPORT_QUEUE.deliver([first, second], MAX_RECEIVES)
    assert read_import(account, killing.id).status == "FAILED"
    assert outcome_counts(read_import(account, waiting.id)) == {"created": 1}
    (row,) = ImportRow.query(waiting.id, ImportRow.part.startswith("chunk"))
    assert row.claims is None


def test_throttled_chunk_is_deferred_for_at_most_five_seconds(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}]})

    def throttle(_: object) -> None:
        raise Unavailable("busy")

    monkeypatch.setattr("chalicelib.services.customers.import_chunk.commit", throttle)
    assert IMPORT_QUEUE.deliver(IMPORT_QUEUE.queued_messages(account)) == []
    (row,) = ImportRow.query(accepted.id, ImportRow.part.startswith("chunk"))
    assert 0 < row.due_at - clock.now().timestamp() <= 5
    assert row.claims is None


def test_transaction_conflict_of_one_record_does_not_stop_sweep(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 1)
    accept_batch(account, {"batch": [{"firstName": f"P{n}"} for n in range(4)]})
    IMPORT_QUEUE.queued_messages(account)
    time.ahead += timedelta(minutes=3)
    conflict = error("UpdateItem", "TransactionConflictException")
    cancellation = cancelled("None", "None", "None", "TransactionConflict")
    with (
        failing(cancellation, 1_000, "TransactWriteItems"),
        failing(conflict, 1, "UpdateItem") as updates,
    ):
        sweep(IMPORTS)
    assert updates
    assert len(IMPORT_QUEUE.queued_messages(account)) == 4


def test_failed_sweep_queues_chunks_that_it_has_already_rescheduled(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 1)
    accept_batch(account, {"batch": [{"firstName": f"P{n}"} for n in range(3)]})
    IMPORT_QUEUE.queued_messages(account)
    time.ahead += timedelta(minutes=3)
    conflict = cancelled("None", "None", "TransactionConflict")
    with (
        failing(conflict, 1, "TransactWriteItems"),
        failing(EndpointConnectionError(endpoint_url="x"), 1, "UpdateItem", after=2),
        pytest.raises(Unavailable),
    ):
        sweep(IMPORTS)
    assert len(IMPORT_QUEUE.queued_messages(account)) == 2


def test_accepting_batch_sends_no_more_messages_after_queue_timeout(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 1)
    with inject_fault(3, InjectedFault.TIMEOUT) as requests:
        accepted = accept_batch(account, {"batch": [{"firstName": f"P{n}"} for n in range(30)]})
    assert requests.operations.count("SendMessageBatch") == 1
    finish(account, accepted.id, time)
    assert outcome_counts(read_import(account, accepted.id)) == {"created": 30}


def _kill(_: object) -> None:
    raise Killed


class Outage:
    """A virtual clock and an outage: DynamoDB throttles every request until ``until_s``.

    Each request and each pause takes virtual time. A function has 30 seconds.
    """

    def __init__(self, patch: pytest.MonkeyPatch, until_s: float) -> None:
        self.now_s = self.started_s = 0.0
        self.until_s = until_s
        self.redelivered_after_s: list[int] = []
        patch.setattr("chalicelib.backoff.time.sleep", self.sleep)

    def respond(self, request: Request) -> Any:
        self.now_s += 0.01
        if request.operation == "ChangeMessageVisibilityBatch":
            entries = request.arguments["Entries"]
            self.redelivered_after_s += [entry["VisibilityTimeout"] for entry in entries]
            return {}
        if request.service == "dynamodb" and self.now_s < self.until_s:
            raise error(request.operation, "ThrottlingException")
        return request.send()

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def get_remaining_time_in_millis(self) -> int:
        return int((30 - (self.now_s - self.started_s)) * 1000)

    def deliver(self, bodies: list[str], receive_count: int) -> list[str]:
        """Invoke the function. Return the messages that failed; they are visible again later."""
        self.started_s = self.now_s
        self.redelivered_after_s.clear()
        with responding(self.respond):
            failed = IMPORT_QUEUE.deliver(
                bodies, receive_count, context=self, receipt_handle="handle"
            )
        visible_again_s = [*self.redelivered_after_s, *[180] * len(failed)][: len(failed)]
        self.now_s += max(visible_again_s, default=0)
        return failed


def test_import_continues_seconds_after_the_end_of_total_throttling(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 1)
    accepted = accept_batch(account, {"batch": [{"firstName": f"P{n}"} for n in range(5)]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    assert len(bodies) == IMPORTS_QUEUE.batch_size
    outage = Outage(monkeypatch, until_s=20)
    for receive_count in range(1, MAX_RECEIVES):
        bodies = outage.deliver(bodies, receive_count)
    assert bodies == []
    assert outage.now_s < 40
    assert outcome_counts(read_import(account, accepted.id)) == {"created": 5}


def test_messages_of_long_outage_are_left_to_the_sweeper(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with monkeypatch.context() as patch:
        outage = Outage(patch, until_s=100_000)
        for receive_count in range(1, MAX_RECEIVES):
            assert outage.deliver(bodies, receive_count) == bodies
        assert outage.deliver(bodies, MAX_RECEIVES) == []
    finish(account, accepted.id, time)
    assert outcome_counts(read_import(account, accepted.id)) == {"created": 1}


@pytest.mark.parametrize("is_same", [True, False])
def test_batch_with_key_accepted_concurrently_is_not_replaced(account: str, is_same: bool) -> None:
    documents = [{"batch": [{"email": f"{name}@example.test"}]} for name in ("ana", "zoe")]
    first, second = (documents[0], documents[0] if is_same else documents[1])
    accepted: list[AcceptedBatch] = []
    with before_request(
        "PutItem", lambda: accepted.append(accept_batch(account, first, idempotency_key="key"))
    ):
        if is_same:
            accepted.append(accept_batch(account, second, idempotency_key="key"))
        else:
            with pytest.raises(IdempotencyKeyReused):
                accept_batch(account, second, idempotency_key="key")
    assert len({batch.id for batch in accepted}) == 1
    assert outcome_counts(run_import(account, accepted[0].id)) == {"created": 1}
    assert [customer.email for customer in all_customers(account)] == ["ana@example.test"]
