"""Tests of the command ``recount``: it finds and repairs wrong counts and positions."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest

from admin.services.customers.save import save_customer
from admin.services.feedback.exclude import delete_feedback
from admin.services.recount import recount as recount_module
from admin.services.recount.recount import recount
from admin.storage import counts
from admin.storage.counts import CustomerCounts
from admin.storage.list_positions import customer_positions
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.services.customers.read import list_customers
from chalicelib.services.feedback.process import process_feedback
from chalicelib.storage import lists
from chalicelib.storage.counters import Counted, CounterRow, count
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key, find_row
from chalicelib.storage.dynamodb.unit_of_work import commit
from chalicelib.storage.forms import ContactFormRow, SurveyRow
from tests.admin.command import new_account, run
from tests.aws.faults import before_request
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.purchases import record_purchase
from tests.web.definitions import customer_definition, purchase_definition
from tests.web.seeded_account import SeededAccount, seed_account

LISTED: Final = 8


@pytest.fixture(autouse=True)
def _test_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    # Use blocks of three positions, no pause for the indexes, and only one thread, so that requests
    # have the same order in each run.
    monkeypatch.setattr("chalicelib.domain.paging.BLOCK_SIZE", 3)
    monkeypatch.setattr("admin.services.recount.positions.BLOCK_SIZE", 3)
    monkeypatch.setattr(recount_module, "INDEX_LAG_S", 0)
    monkeypatch.setattr("admin.services.recount.recount.MAX_CONCURRENCY", 1)


@pytest.fixture
def listed(cloud: None) -> str:
    """Create an account with eight customers and return its id."""
    account_id = new_account()
    for _ in range(LISTED):
        save_customer(account_id, customer_definition(email=f"{new_id()}@example.com"))
    return account_id


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    """Create an account with a customer, three purchases and three processed feedback records."""
    seeded = seed_account()
    purchase = purchase_definition(seeded.store_id, customerId=seeded.customer_id)
    record_purchase(seeded.account_id, purchase)
    record_purchase(seeded.account_id, purchase_definition(seeded.store_id))
    tracker = seeded.tracker()
    feedback = [
        answer_survey(seeded, tracker, nps="9"),
        answer_survey(seeded, nps="3"),
        answer_contact_form(seeded),
    ]
    process_feedback([record.id for record in feedback])
    answer_survey(seeded, nps="5")  # stays pending
    return seeded


def row_at(account_id: str, position: int) -> CustomerRow:
    """Return the customer at this position."""
    (row,) = lists.load_page(
        CustomerRow, account_id, PageRequest(limit=1, page=position), total=position
    )
    row.refresh()
    assert isinstance(row, CustomerRow)
    return row


def change(row: Any, **values: Any) -> None:
    row.update([getattr(type(row), name).set(value) for name, value in values.items()])


def place(row: CustomerRow, position: int) -> None:
    row.list_at(row.account_id, position)
    row.save()


def remove_position(row: CustomerRow) -> None:
    row.update([CustomerRow.position.remove(), CustomerRow.list_block.remove()])


def set_total(account_id: str, kind: str, total: int) -> None:
    change(CounterRow(account_id, kind), total=total)


def found(account_id: str, *, fix: bool = False) -> set[tuple[str, str, int | None, int | None]]:
    """Return each difference as kind of record, name of the value, stored and expected value."""
    return {
        (difference.record.split()[0], difference.name, difference.stored, difference.expected)
        for difference in recount(account_id, fix=fix)
    }


def repeat_position(account_id: str) -> None:
    change(row_at(account_id, 5), position=4)


def move_to_wrong_block(account_id: str) -> None:
    change(row_at(account_id, 2), list_block=lists.block_key(account_id, 1))


def lose_position(account_id: str) -> None:
    remove_position(row_at(account_id, 8))


def lose_block(row: CustomerRow) -> None:
    change(row, list_block="other")


def move_out_of_reach(account_id: str) -> None:
    place(row_at(account_id, 1), 500)


def delete_customer(account_id: str) -> None:
    row_at(account_id, 3).delete()


def raise_total(account_id: str) -> None:
    set_total(account_id, "customers", LISTED + 4)


def lower_total(account_id: str) -> None:
    set_total(account_id, "customers", 2)


def delete_total(account_id: str) -> None:
    CounterRow(account_id, "customers").delete()


def change_purchase_count(seeded: SeededAccount) -> None:
    change(CustomerRow(key(seeded)), purchase_count=5)


def remove_feedback_counts(seeded: SeededAccount) -> None:
    names = ("feedback_count", "rating_sum", "rating_count")
    CustomerRow(key(seeded)).update([getattr(CustomerRow, name).remove() for name in names])


def change_submission_count(seeded: SeededAccount) -> None:
    change(ContactFormRow(seeded.contact_form_id, "summary"), submission_count=4)


def change_account_counts(seeded: SeededAccount) -> None:
    changes = {Counted.PURCHASES: 7, Counted.FEEDBACK: -2, Counted.SENT: 1, Counted.SKIPPED: -1}
    for kind, by in changes.items():
        add(seeded, kind, by)


def add(seeded: SeededAccount, kind: Counted, by: int) -> None:
    commit(partial(count, account_id=seeded.account_id, kind=kind, record_id="1", by=by))


def key(seeded: SeededAccount) -> str:
    return account_key(seeded.account_id, seeded.customer_id)


Differences = set[tuple[str, str, int | None, int | None]]

WRONG_POSITIONS: Final[dict[Callable[[str], None], Differences]] = {
    repeat_position: {
        ("customers", "position", 4, None),
        ("customers", "position", None, 5),
    },
    move_to_wrong_block: {
        ("customers", "position", 2, None),
        ("customers", "position", None, 2),
    },
    lose_position: {
        ("customers", "position", None, None),
        ("customers", "total", 8, 7),
    },
    move_out_of_reach: {
        ("customers", "position", None, 1),
        ("customers", "position", 500, None),
    },
    delete_customer: {("customers", "position", None, 3)},
    raise_total: {("customers", "total", 12, 8)},
    lower_total: {("customers", "total", 2, 8)},
    delete_total: {("customers", "total", 0, 8)},
}

WRONG_COUNTS: Final[dict[Callable[[SeededAccount], None], Differences]] = {
    change_purchase_count: {("customer", "purchase_count", 5, 2)},
    remove_feedback_counts: {
        ("customer", "feedback_count", 0, 1),
        ("customer", "rating_sum", 0, 9),
        ("customer", "rating_count", 0, 1),
    },
    change_submission_count: {("contact-form", "submissions", 4, 1)},
    change_account_counts: {
        ("account", "purchases", 10, 3),
        ("account", "feedback", 1, 3),
        ("account", "solicitations-sent", 1, 0),
        ("account", "solicitations-skipped", 2, 3),
    },
}


def test_recount_of_account_with_correct_counts_reports_no_difference(
    seeded: SeededAccount,
) -> None:
    assert found(seeded.account_id) == set()


@pytest.mark.parametrize("damage", WRONG_POSITIONS)
def test_recount_finds_and_repairs_positions(listed: str, damage: Callable[[str], None]) -> None:
    damage(listed)
    assert found(listed) == WRONG_POSITIONS[damage]
    found(listed, fix=True)
    assert found(listed) == set()
    positions_are_dense(listed)


def test_recount_finds_and_repairs_counts(seeded: SeededAccount) -> None:
    for damage in WRONG_COUNTS:
        damage(seeded)
    assert found(seeded.account_id) == set().union(*WRONG_COUNTS.values())
    found(seeded.account_id, fix=True)
    assert found(seeded.account_id) == set()


def positions_are_dense(account_id: str) -> None:
    page = list_customers(account_id, PageRequest(limit=100))
    assert len({customer.id for customer in page.items}) == page.meta.total_items
    assert len(page.items) == page.meta.total_items
    assert page.meta.total_items in (LISTED, LISTED - 1)


@pytest.mark.parametrize("seed", range(4))
def test_recount_repairs_random_positions(listed: str, seed: int) -> None:
    rows = [row_at(listed, position) for position in range(1, LISTED + 1)]
    randomness = random.Random(seed)
    for row in randomness.sample(rows, 5):
        place(row, randomness.randint(1, 12))
    set_total(listed, "customers", randomness.randint(1, 12))
    passes = 0
    while found(listed, fix=True):
        passes += 1
        assert passes <= 3
    positions_are_dense(listed)


def delete(row: CustomerRow) -> None:
    row.delete()


@pytest.mark.parametrize("change_row", [partial(change, position=99), lose_block, delete])
@pytest.mark.parametrize("fills", [False, True])
def test_row_that_changes_during_repair_stays_where_it_is(
    listed: str, change_row: Callable[[CustomerRow], None], fills: bool
) -> None:
    positions, row = customer_positions(listed), row_at(listed, LISTED)
    with before_request("TransactWriteItems", partial(change_row, row)):
        if fills:
            assert positions.fill(1) == LISTED - 2  # moves the row before
        else:
            assert not positions.move_to_end(row)
    stored = find_row(row.own_key())
    assert (stored is None) is (change_row is delete)
    if stored:
        assert (stored.position, stored.list_block) == (row.position, row.list_block)
    assert positions.load_total() == (LISTED - 2 if fills else LISTED)


def test_customer_erased_during_repair_is_not_created_again(listed: str) -> None:
    row = row_at(listed, LISTED)
    remove_position(row)
    with before_request("TransactWriteItems", partial(delete, row)):
        assert not customer_positions(listed).move_to_end(row)
    assert find_row(row.own_key()) is None


def test_repairs_rely_on_total(listed: str) -> None:
    positions = customer_positions(listed)

    def create() -> None:
        save_customer(listed, customer_definition(email=f"{new_id()}@example.com"))

    row_at(listed, 1).delete()
    with before_request("TransactWriteItems", create):
        assert positions.fill(1) == LISTED
    with before_request("TransactWriteItems", create):
        assert positions.move_to_end(row_at(listed, 1))
    with before_request("UpdateItem", create):
        assert not positions.set_total(LISTED + 2, 1)
    assert [row.position for rows in positions.walk() for row in rows] == [*range(2, LISTED + 4)]


def test_customer_that_waits_for_position_is_not_changed(listed: str) -> None:
    row = row_at(listed, LISTED)
    remove_position(row)
    change(row, work_shard="open-0", due_at=1)
    set_total(listed, "customers", LISTED - 1)
    assert found(listed, fix=True) == set()


def test_customer_that_changes_during_check_is_not_repaired(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_purchase_count(seeded)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            change(CustomerRow(key(seeded)), updated_at=clock.now() + timedelta(minutes=1))

    monkeypatch.setattr("admin.services.recount.recount.time.sleep", pause)
    (difference,) = recount(seeded.account_id, fix=True)
    assert (difference.name, difference.is_repaired) == ("purchase_count", False)
    assert seeded.customer.purchase_count == 5


@pytest.mark.parametrize("name", CustomerCounts._fields)
def test_count_of_customer_that_another_process_changes_is_not_repaired(
    seeded: SeededAccount, name: str
) -> None:
    damaged = dict.fromkeys(CustomerCounts._fields, 50)
    change(CustomerRow(key(seeded)), **damaged)
    with before_request("UpdateItem", lambda: change(CustomerRow(key(seeded)), **{name: 51})):
        differences = list(recount(seeded.account_id, fix=True))
    assert {difference.is_repaired for difference in differences} == {False}
    stored = counts.counts_of(CustomerRow.get(key(seeded)))
    assert stored._asdict() == damaged | {name: 51}


def test_concurrent_repairs_correct_a_count_once(seeded: SeededAccount) -> None:
    add(seeded, Counted.PURCHASES, 7)
    with before_request("UpdateItem", lambda: found(seeded.account_id, fix=True)):
        found(seeded.account_id, fix=True)
    assert found(seeded.account_id) == set()


def test_recount_with_slow_clock_keeps_counts_of_recent_feedback(seeded: SeededAccount) -> None:
    with clock.fixed_at(clock.now() - timedelta(hours=1)):
        assert found(seeded.account_id, fix=True) == set()


def test_recount_repairs_customer_whose_times_are_ahead(seeded: SeededAccount) -> None:
    change_purchase_count(seeded)
    change(CustomerRow(key(seeded)), updated_at=clock.now() + timedelta(hours=1))
    assert found(seeded.account_id, fix=True) == {("customer", "purchase_count", 5, 2)}
    assert seeded.customer.purchase_count == 2


def test_count_that_becomes_visible_after_its_record_is_not_repaired(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier, load_counts = counts.load_counts(seeded.account_id), counts.load_counts
    process_feedback([answer_contact_form(seeded).id])
    pauses: list[float] = []
    monkeypatch.setattr("admin.services.recount.recount.time.sleep", pauses.append)
    monkeypatch.setattr(
        counts,
        "load_counts",
        lambda account_id: earlier if len(pauses) < 2 else load_counts(account_id),
    )
    (difference,) = recount(seeded.account_id, fix=True)
    assert (difference.name, difference.is_repaired) == ("feedback", False)
    assert load_counts(seeded.account_id)[Counted.FEEDBACK].number == 4


def test_count_that_changes_during_check_is_not_repaired(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_submission_count(seeded)
    change(SurveyRow(seeded.survey_id, "summary"), submission_count=4)
    change_account_counts(seeded)

    def submit(_: float) -> None:
        add(seeded, Counted.PURCHASES, 1)
        process_feedback([answer_contact_form(seeded).id, answer_survey(seeded).id])

    monkeypatch.setattr("admin.services.recount.recount.time.sleep", submit)
    differences = list(recount(seeded.account_id, fix=True))
    assert {(d.name, d.is_repaired) for d in differences} == {
        ("submissions", False),
        ("purchases", False),
        ("feedback", False),
        ("solicitations-sent", True),
        ("solicitations-skipped", True),
    }


def test_changes_that_cancel_out_during_check_are_not_repaired(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One feedback record is deleted before the check reads the records, and an equal one is
    # processed afterwards, so that all numbers are as before.
    deleted, added = answer_contact_form(seeded).id, answer_contact_form(seeded).id
    process_feedback([deleted])
    counted_feedback = counts.counted_feedback
    monkeypatch.setattr(
        "admin.services.recount.recount.time.sleep", lambda _: delete_feedback(deleted, "operator")
    )

    def read(account_id: str) -> Iterator[StoredFeedback]:
        yield from counted_feedback(account_id)
        process_feedback([added])

    monkeypatch.setattr(counts, "counted_feedback", read)
    differences = list(recount(seeded.account_id, fix=True))
    assert {(d.record.split()[0], d.name) for d in differences} == {
        ("contact-form", "submissions"),
        ("account", "feedback"),
        ("statistics", "feedback"),
    }
    assert not any(d.is_repaired for d in differences)
    monkeypatch.undo()
    assert found(seeded.account_id) == set()


def test_recount_ignores_records_of_other_account_with_same_customer_id(
    seeded: SeededAccount,
) -> None:
    other = new_account()
    save_customer(other, customer_definition(id=seeded.customer_id))
    assert found(other) == set()


def test_recount_sends_two_requests_per_customer(seeded: SeededAccount) -> None:
    with counted_calls() as before:
        list(recount(seeded.account_id, fix=False))
    save_customer(seeded.account_id, customer_definition(email="new@example.com"))
    with counted_calls() as after:
        list(recount(seeded.account_id, fix=False))
    assert after.total() - before.total() == 2


def test_command_prints_each_difference_and_exits_with_1(seeded: SeededAccount) -> None:
    change_submission_count(seeded)
    set_total(seeded.account_id, "customers", 12)
    result = run("recount", seeded.account_id)
    assert result.exit_code == 1
    assert "customers: total is 12, expected 1\n" in result.stdout
    assert f"contact-form {seeded.contact_form_id}: submissions is 4, expected 1" in result.stdout
    assert "Differences: 2. Remaining: 2." in result.stderr


def test_command_repairs_and_exits_with_0(listed: str) -> None:
    raise_total(listed)
    result = run("recount", listed, "--fix", "--json")
    assert result.exit_code == 0
    (difference,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert difference == {
        "record": "customers",
        "name": "total",
        "stored": 12,
        "expected": 8,
        "isRepaired": True,
    }
    assert "Differences: 1. Remaining: 0." in result.stderr


def test_recount_of_unknown_account_is_reported(account: str) -> None:
    result = run("recount", account)
    assert result.exit_code == 1
    assert "account" in result.stderr
