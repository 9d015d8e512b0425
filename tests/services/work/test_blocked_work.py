"""Test that blocked work is parked with a reason, and that contention parks nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from admin.services.customers.save import save_customer
from admin.services.erasure.replay import replay_erasures
from admin.services.recount.positions import check_positions
from admin.services.work.parked import list_parked_work, replay
from admin.storage.list_positions import customer_positions
from admin.storage.parked import ParkedWork
from chalicelib.domain import clock
from chalicelib.domain.customers.import_batch import ImportStatus
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.work import MAX_CLAIMS, WorkState
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.erasure.erase import start_erasure
from chalicelib.services.work.kinds import KindOfWork
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import customers, erasures, feedback, solicitations
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.forms import TABLES
from chalicelib.storage.imports import ImportRow
from chalicelib.storage.purchases import PurchaseRow
from chalicelib.storage.solicitations import SolicitationRow
from tests.aws.faults import Killed
from tests.aws.requests import Request, responding
from tests.services.customers.importing import accept_batch, all_customers, run_import
from tests.services.erasure.erasing import OPERATOR
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.kinds import ERASURES, FEEDBACK, IMPORTS, SOLICITATIONS
from tests.services.moved_time import Time, move_time
from tests.services.queues import (
    ERASURE_QUEUE,
    FEEDBACK_QUEUE,
    IMPORT_QUEUE,
    SOLICITATION_QUEUE,
    FunctionQueue,
)
from tests.services.solicitation.soliciting import open_shop, stored
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount

QUEUES: dict[str, FunctionQueue] = {
    "import": IMPORT_QUEUE,
    "feedback": FEEDBACK_QUEUE,
    "solicitation": SOLICITATION_QUEUE,
    "erasure": ERASURE_QUEUE,
}


@pytest.fixture
def time(cloud: None, monkeypatch: pytest.MonkeyPatch) -> Time:
    """Return a clock that the test can move. Each operation makes up to three attempts."""
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.03)
    return move_time(monkeypatch)


@dataclass
class Rounds:
    """Sweep one kind of work and deliver its messages every few minutes."""

    kind: KindOfWork
    account_id: str
    time: Time

    def run(self, count: int, *, minutes: float) -> list[ParkedWork]:
        """Run a number of rounds. Return the parked work of the account."""
        queue = QUEUES[self.kind.records.kind]
        for _ in range(count):
            queue.deliver_all(self.account_id)
            self.time.ahead += timedelta(minutes=minutes)
            sweep(self.kind)
        queue.deliver_all(self.account_id)
        return [work for work in list_parked_work() if work.account_id == self.account_id]

    def run_until_parked(self) -> list[ParkedWork]:
        """Run a round per hour: the work waits for an index, then it fails eight times."""
        return self.run(MAX_CLAIMS, minutes=61)


@pytest.mark.parametrize("kind", FormKind)
def test_feedback_without_form_is_parked_and_processed_after_replay(
    seeded: SeededAccount, time: Time, kind: FormKind
) -> None:
    answer = answer_survey if kind is FormKind.SURVEY else answer_contact_form
    submitted = answer(seeded, mail="zoe@example.test", nps="9")
    rounds = Rounds(FEEDBACK, seeded.account_id, time)
    table = TABLES[kind].row
    rows = list(table.query(submitted.form_id))
    for row in rows:
        row.delete()
    assert rounds.run(3, minutes=3) == []
    assert feedback.FeedbackRow.get(submitted.id).claims is None
    (parked,) = rounds.run_until_parked()
    assert (parked.reason, parked.claims) == (f"blocked by a row of {table.Meta.name}", MAX_CLAIMS)
    for row in rows:
        row.save()
    assert replay(submitted.id) == 1
    rounds.run(1, minutes=1)
    assert feedback.find(submitted.id).state == "DONE"  # type: ignore[union-attr]


def test_reused_idempotency_key_imports_all_rows_of_new_batch(account: str, time: Time) -> None:
    batch = {"batch": [{"firstName": "Zoe"}]}
    first = accept_batch(account, batch, idempotency_key="key")
    run_import(account, first.id)
    time.ahead += timedelta(days=90, minutes=1)
    again = accept_batch(account, {"batch": [{"firstName": "Ana"}]}, idempotency_key="key")
    assert again.id == first.id
    progress = run_import(account, again.id)
    assert (progress.status, progress.created) == (ImportStatus.COMPLETED, 1)
    assert {customer.first_name for customer in all_customers(account)} == {"Zoe", "Ana"}


def test_import_of_existing_customer_id_is_parked(account: str, time: Time) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "Zoe"}]})
    (chunk,) = ImportRow.query(accepted.id, ImportRow.part.startswith("chunk"))
    existing_id = derived_id(accepted.id, chunk.edition, "0")
    save_customer(account, customer_definition(id=existing_id))
    (parked,) = Rounds(IMPORTS, account, time).run_until_parked()
    assert parked.reason == "blocked by a row of customers"
    assert read_import(account, accepted.id).status is ImportStatus.FAILED


def test_erasure_is_parked_if_counter_is_above_positions_and_ends_after_recount(
    account: str, time: Time
) -> None:
    customer_id = save_customer(account, customer_definition()).id
    save_customer(account, customer_definition())
    counter = CounterRow.get(account, Listed.CUSTOMERS.value)
    counter.update([CounterRow.total.set(3)])
    erasure = start_erasure(account, customer_id, OPERATOR)
    rounds = Rounds(ERASURES, account, time)
    sweep(ERASURES)
    assert rounds.run(3, minutes=3) == []
    (parked,) = rounds.run_until_parked()
    assert parked.reason == "no customer at position 3"
    assert [e.state for e in replay_erasures(lambda _: None)] == [WorkState.PENDING]
    list(check_positions(customer_positions(account), 3, fix=True, advance=lambda _: None))
    rounds.run(3, minutes=20)
    ended = erasures.find(erasure.id)
    assert ended
    assert ended.state is WorkState.DONE
    assert customers.find(account, customer_id) is None


def test_solicitation_without_purchase_is_parked(time: Time) -> None:
    shop = open_shop()
    purchase = shop.record()
    (row,) = [row for row in PurchaseRow.scan() if row.id == purchase.id]
    row.delete()
    (parked,) = Rounds(SOLICITATIONS, shop.account_id, time).run_until_parked()
    assert (parked.reason, parked.claims) == ("purchase missing", MAX_CLAIMS)


def test_claimed_solicitation_without_purchase_becomes_unknown(time: Time) -> None:
    shop = open_shop()
    purchase = shop.record()
    lease_end = int(clock.now().timestamp()) + 120
    SolicitationRow(purchase.id).update(
        [SolicitationRow.leased_until.set(lease_end), SolicitationRow.claim_token.set("token")]
    )
    (row,) = [row for row in PurchaseRow.scan() if row.id == purchase.id]
    row.delete()
    assert Rounds(SOLICITATIONS, shop.account_id, time).run(2, minutes=7) == []
    assert stored(purchase).state == "UNKNOWN"


def test_solicitation_that_kills_its_process_is_parked_and_others_are_sent(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_shop()
    poison, *others = [
        shop.record(customer={"email": f"c{n}@example.test", "emailOptin": True}) for n in range(4)
    ]
    real = solicitations.fetch_with_purchase

    def kill(rows: Any, pointer: Any) -> Any:
        if pointer.solicitation_id == poison.id:
            raise Killed
        return real(rows, pointer)

    monkeypatch.setattr(solicitations, "fetch_with_purchase", kill)
    monkeypatch.setattr(
        "chalicelib.services.solicitation.send_survey.send_invitation", lambda _: new_id()
    )
    (parked,) = Rounds(SOLICITATIONS, shop.account_id, time).run(10, minutes=61)
    assert (parked.owner_id, parked.reason) == (poison.id, "interrupted")
    assert {stored(purchase).state for purchase in others} == {"SENT"}


@pytest.fixture
def contended_counter() -> Iterator[dict[str, Any]]:
    """Change a counter before each transaction, and change it back before the next attempt.

    The failed conditions return another row each time than the one that the attempt knows.
    """
    contention: dict[str, Any] = {"account": None, "count": 0}

    def respond(request: Request) -> Any:
        account = contention["account"]
        if request.operation != "TransactWriteItems" or account is None:
            return request.send()
        contention["account"] = None
        counter = CounterRow(account, Listed.CUSTOMERS.value)
        by = 1 + contention["count"]
        counter.update([CounterRow.total.add(by)])
        try:
            return request.send()
        finally:
            counter.update([CounterRow.total.add(-by)])
            contention["account"] = account
            contention["count"] += 1

    with responding(respond):
        yield contention


def test_contention_never_parks_work(
    account: str, time: Time, contended_counter: dict[str, Any]
) -> None:
    accepted = accept_batch(account, {"batch": [{"firstName": "Zoe"}]})
    contended_counter["account"] = account
    assert Rounds(IMPORTS, account, time).run(2 * MAX_CLAIMS, minutes=61) == []
    contended_counter["account"] = None
    assert contended_counter["count"] > MAX_CLAIMS
    (chunk,) = ImportRow.query(accepted.id, ImportRow.part.startswith("chunk"))
    assert (chunk.claims, chunk.waits_since) == (None, None)
    Rounds(IMPORTS, account, time).run(1, minutes=10)
    assert read_import(account, accepted.id).created == 1


def test_wait_for_index_of_less_than_ten_minutes_is_no_failure(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer_id = save_customer(account, customer_definition()).id
    save_customer(account, customer_definition())
    erasure = start_erasure(account, customer_id, OPERATOR)
    with monkeypatch.context() as lagging:
        lagging.setattr(CustomerRow.by_block, "query", lambda *_: iter(()))
        assert Rounds(ERASURES, account, time).run(4, minutes=2) == []
    row = erasures.ErasureRow.get(erasure.id)
    assert (row.claims, row.reason) == (None, "no customer at position 2")
    Rounds(ERASURES, account, time).run(3, minutes=20)
    ended = erasures.ErasureRow.get(erasure.id)
    assert (ended.state, ended.waits_since) == ("DONE", None)
