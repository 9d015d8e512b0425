"""Test that the conditions of a unit of work follow from what it has read."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.errors import Blocked, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.customers import CustomerPairRow
from chalicelib.storage.dynamodb.table import Key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.purchases import PurchaseRow
from tests.aws.faults import InjectedFault, before_request, failing, inject_fault
from tests.aws.tables import cancelled

pytestmark = pytest.mark.usefixtures("cloud")

FIRST, SECOND = "first", "second"


@pytest.fixture
def purchase() -> Key[PurchaseRow]:
    """Store a purchase and return its key."""
    key = Key(PurchaseRow, new_id())

    def create(rows: Rows) -> None:
        row, now = rows.create(key), clock.now()
        row.account_id, row.id, row.source, row.external_id = "account", "1", "Site", FIRST
        row.store_id, row.date, row.start_date, row.end_date = "store", now, now, now
        row.created_at, row.updated_at, row.sent_at = now, now, now

    commit(create)
    return key


@pytest.fixture
def counter() -> Key[CounterRow]:
    return Key(CounterRow, new_id(), "customers")


@pytest.fixture
def pair() -> Key[CustomerPairRow]:
    return Key(CustomerPairRow, new_id())


def stored(key: Key[Any]) -> Any:
    return read_together(key)[0]


def update(key: Key[Any], **values: Any) -> None:
    """Change a row as another process does."""
    row = key.row()
    row.attribute_values |= values
    row.update([*row.assignments(), key.model.revision.add(1)])


def interleaved(
    use_case: Callable[[Rows], object], other: Callable[[], object]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Run a use case, and another process before its first write. Return operations and writes."""
    attempts: list[Any] = []
    with before_request(1, other) as requests:
        commit(lambda rows: attempts.append(use_case(rows)))
    return requests.operations, attempts


def test_row_that_was_not_fetched_cannot_be_read(purchase: Key[PurchaseRow]) -> None:
    for read in (
        lambda rows: rows.get(purchase),
        lambda rows: rows.value(purchase, PurchaseRow.store_id),
        lambda rows: rows.exists(purchase),
        lambda rows: rows.peek(purchase, because="of the test"),
    ):
        with pytest.raises(AssertionError, match="not fetched"):
            commit(read)


def test_row_that_is_not_relied_on_cannot_be_changed(purchase: Key[PurchaseRow]) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        row = rows.peek(purchase, because="of the test")
        assert row
        row.store_id = "other"

    with pytest.raises(AssertionError, match="not relied on"):
        commit(use_case)


def test_only_changed_attributes_are_written(purchase: Key[PurchaseRow]) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        row = rows.get(purchase)
        assert row
        row.store_id, row.external_id = "other", FIRST

    with inject_fault() as requests:
        commit(use_case)
    assert requests.operations == ["BatchGetItem", "UpdateItem"]
    assert (stored(purchase).store_id, stored(purchase).revision) == ("other", 1)


def test_unit_without_writes_checks_nothing(purchase: Key[PurchaseRow]) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        assert rows.get(purchase)

    assert interleaved(use_case, lambda: update(purchase, store_id="other"))[0] == ["BatchGetItem"]


def test_get_relies_on_version_and_repeats_on_returned_row(purchase: Key[PurchaseRow]) -> None:
    def use_case(rows: Rows) -> Any:
        rows.prefetch(purchase)
        row = rows.get(purchase)
        assert row
        row.external_id = f"{row.store_id} {SECOND}"
        return row.store_id

    operations, seen = interleaved(use_case, lambda: update(purchase, store_id="other"))
    assert operations == ["BatchGetItem", "UpdateItem", "UpdateItem"]
    assert (seen, stored(purchase).external_id) == (["store", "other"], f"other {SECOND}")


@pytest.mark.parametrize("attribute", [PurchaseRow.store_id, PurchaseRow.source])
def test_value_relies_on_one_attribute(
    purchase: Key[PurchaseRow], pair: Key[CustomerPairRow], attribute: Any
) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        rows.value(purchase, attribute)
        rows.create(pair).customer_id = FIRST

    operations, seen = interleaved(use_case, lambda: update(purchase, store_id="other"))
    attempts = 2 if attribute is PurchaseRow.store_id else 1
    assert (operations, len(seen)) == (
        ["BatchGetItem", *["TransactWriteItems"] * attempts],
        attempts,
    )


def test_peeked_row_is_read_again_after_conflict(
    purchase: Key[PurchaseRow], counter: Key[CounterRow], pair: Key[CustomerPairRow]
) -> None:
    def use_case(rows: Rows) -> Any:
        rows.prefetch(purchase, counter)
        rows.value(purchase, PurchaseRow.store_id)
        rows.create(pair).customer_id = FIRST
        seen = rows.peek(counter, because="of the test")
        return seen and seen.total

    def other() -> None:
        update(purchase, store_id="other")
        update(counter, total=3)

    operations, seen = interleaved(use_case, other)
    assert (operations.count("BatchGetItem"), seen) == (2, [None, 3])


def test_updated_row_is_not_created_again_after_deletion(purchase: Key[PurchaseRow]) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        if rows.peek(purchase, because="the update requires the row"):
            rows.set(purchase, PurchaseRow.store_id, "other")

    interleaved(use_case, lambda: stored(purchase).delete())
    assert stored(purchase) is None


def test_additions_are_merged_without_condition(counter: Key[CounterRow]) -> None:
    def use_case(rows: Rows) -> None:
        for by in (1, 2, -1):
            rows.add(counter, CounterRow.total, by)

    with inject_fault() as requests:
        commit(use_case)
    assert (requests.operations, stored(counter).total) == (["UpdateItem"], 2)


def test_contended_row_is_given_up_without_read_and_pause(
    purchase: Key[PurchaseRow], counter: Key[CounterRow], pair: Key[CustomerPairRow]
) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(counter)
        if not rows.can_do_without(counter):
            rows.set(counter, CounterRow.total, (rows.value(counter, CounterRow.total) or 0) + 1)
        rows.create(pair).customer_id = FIRST

    operations, _ = interleaved(use_case, lambda: update(counter, total=5))
    assert operations == ["BatchGetItem", "TransactWriteItems", "PutItem"]
    assert (stored(counter).total, stored(pair).customer_id) == (5, FIRST)


def test_all_rows_are_read_again_after_conflict_with_transaction(
    purchase: Key[PurchaseRow], pair: Key[CustomerPairRow]
) -> None:
    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        rows.value(purchase, PurchaseRow.store_id)
        rows.create(pair).customer_id = FIRST

    conflict = cancelled("None", "TransactionConflict")
    with failing(conflict, 1, "TransactWriteItems"), inject_fault() as requests:
        commit(use_case)
    assert requests.operations.count("BatchGetItem") == 2


def test_transaction_without_response_is_sent_again_with_its_token(
    counter: Key[CounterRow], pair: Key[CustomerPairRow]
) -> None:
    def use_case(rows: Rows) -> None:
        rows.add(counter, CounterRow.total, 1)
        rows.create(pair).customer_id = FIRST

    with inject_fault(0, InjectedFault.TIMEOUT_AFTER_PROCESSING):
        commit(use_case)
    assert (stored(counter).total, stored(pair).customer_id) == (1, FIRST)


def test_condition_that_stays_false_blocks(
    monkeypatch: pytest.MonkeyPatch, pair: Key[CustomerPairRow]
) -> None:
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.03)

    def require_missing(rows: Rows) -> None:
        rows.require(pair)
        rows.set(pair, CustomerPairRow.customer_id, FIRST)

    with pytest.raises(Blocked, match="blocked by a row of customer-pairs") as raised:
        commit(require_missing)
    assert raised.value.counts_after  # the row was not read
    assert stored(pair) is None


def test_changing_row_is_contention(
    monkeypatch: pytest.MonkeyPatch, purchase: Key[PurchaseRow]
) -> None:
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.03)
    number = iter(range(100))

    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        row = rows.get(purchase)
        assert row
        row.external_id = SECOND
        update(purchase, store_id=str(next(number)))

    with pytest.raises(Unavailable, match="concurrent") as raised:
        commit(use_case)
    assert not isinstance(raised.value, Blocked)


def test_row_that_exists_already_is_skipped_in_all_later_attempts() -> None:
    keys = [Key(PurchaseRow, new_id()) for _ in range(3)]

    def create(key: Key[PurchaseRow], rows: Rows) -> None:
        rows.create(key).store_id = FIRST

    def create_missing(rows: Rows) -> None:
        for key in keys:
            if not rows.has_failed(key):
                create(key, rows)

    commit(partial(create, keys[0]))
    with before_request(1, lambda: commit(partial(create, keys[1]))) as requests:
        commit(create_missing)
    assert requests.operations == ["TransactWriteItems", "TransactWriteItems", "PutItem"]
    assert all(stored(key) for key in keys)


def test_row_whose_condition_failed_is_skipped_in_all_later_attempts(
    purchase: Key[PurchaseRow],
) -> None:
    missing, new = Key(PurchaseRow, new_id()), Key(PurchaseRow, new_id())

    def use_case(rows: Rows) -> None:
        for key in (purchase, missing):
            if not rows.has_failed(key):
                rows.expect(key, PurchaseRow.store_id, "store")
                rows.set(key, PurchaseRow.source, "Email")
        rows.create(new).store_id = SECOND

    with inject_fault(1, InjectedFault.CONFLICT) as requests:
        commit(use_case)
    assert requests.operations == ["TransactWriteItems"] * 3
    assert stored(missing) is None
    assert stored(purchase).source == "Email"
    assert stored(new)


@pytest.mark.parametrize(("earlier", "later"), [(None, SECOND), (FIRST, FIRST)])
def test_default_is_set_only_without_value(
    purchase: Key[PurchaseRow], earlier: str | None, later: str
) -> None:
    update(purchase, customer_id=earlier)
    before = stored(purchase).revision
    with inject_fault() as requests:
        commit(lambda rows: rows.set_default(purchase, PurchaseRow.customer_id, SECOND))
    assert requests.operations == ["UpdateItem"]
    assert stored(purchase).customer_id == later
    assert stored(purchase).revision == before + 1


def test_units_share_one_read(purchase: Key[PurchaseRow], counter: Key[CounterRow]) -> None:
    read = Rows()
    with inject_fault() as requests:
        read.prefetch(purchase, counter)
        for key, attribute in ((purchase, PurchaseRow.store_id), (counter, CounterRow.total)):

            def use_case(rows: Rows, key: Key[Any] = key, attribute: Any = attribute) -> None:
                rows.prefetch(key)
                rows.set(key, attribute, rows.value(key, attribute) or 1)

            commit(use_case, read=read)
    assert requests.operations == ["BatchGetItem", "UpdateItem", "UpdateItem"]


def test_row_that_is_sent_again_after_lost_response_is_not_contention() -> None:
    key = Key(PurchaseRow, new_id())

    def create(rows: Rows) -> None:
        rows.create(key).store_id = FIRST

    with before_request("PutItem", lambda: commit(create)) as requests:
        commit(create)
    assert (requests.operations, stored(key).store_id) == (["PutItem"], FIRST)


def test_row_that_fails_twice_is_read_again_after_pause(purchase: Key[PurchaseRow]) -> None:
    seen: list[str] = []

    def use_case(rows: Rows) -> None:
        rows.prefetch(purchase)
        row = rows.get(purchase)
        assert row
        seen.append(row.store_id)
        row.external_id = SECOND
        if len(seen) < 3:
            update(purchase, store_id=f"{len(seen)}")  # as another process

    with inject_fault() as requests:
        commit(use_case)
    assert seen == ["store", "1", "2"]
    assert requests.operations.count("BatchGetItem") == 2
