"""Test that an older version of a purchase does not replace a newer one.

Versions are ordered by the time at which the partner sent them, however they arrive.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.services.purchases.report import report_purchases
from chalicelib.storage import purchases
from chalicelib.storage.dynamodb.table import find_row
from chalicelib.storage.purchases import PurchaseRow, purchase_key
from tests.aws.faults import before_request, inject_fault
from tests.services.customers.importing import all_customers
from tests.services.moved_time import wrong_clock
from tests.services.purchases import record_purchase, report_purchase
from tests.services.queues import PURCHASE_QUEUE
from tests.services.solicitation.soliciting import Shop, stored
from tests.services.solicitation.test_record_purchase import message

LATER = timedelta(minutes=5)


def version(definition: dict[str, Any], number: int) -> dict[str, Any]:
    return {**definition, "metadata": {"version": number}}


def receive(shop: Shop, definition: dict[str, Any], sent_at: datetime) -> None:
    """Deliver a message that the queue received at this time."""
    assert PURCHASE_QUEUE.deliver([message(shop, definition)], sent_at=sent_at) == []


def row_of(shop: Shop, definition: dict[str, Any]) -> PurchaseRow:
    record_id = purchase_id(shop.account_id, DataSource("Site"), definition["externalId"])
    row = find_row(purchase_key(shop.account_id, record_id))
    assert row
    return row


def stored_version(shop: Shop, definition: dict[str, Any]) -> int:
    record_id = purchase_id(shop.account_id, DataSource("Site"), definition["externalId"])
    purchase = purchases.find(shop.account_id, record_id)
    assert purchase
    number: int = purchase.metadata["version"]
    return number


def report(shop: Shop, definition: dict[str, Any]) -> None:
    report_purchase(shop.account_id, definition, solicit=True)


def report_batch(shop: Shop, definition: dict[str, Any]) -> None:
    report_purchases(shop.account_id, [definition], solicit=True)


WAYS = pytest.mark.parametrize("record", [report, report_batch])


@WAYS
def test_late_message_does_not_replace_request(
    shop: Shop, record: Callable[[Shop, dict[str, Any]], None]
) -> None:
    definition, sent_at = shop.definition(), clock.now()
    shop.time.ahead += LATER
    record(shop, version(definition, 2))
    receive(shop, version(definition, 1), sent_at)
    assert stored_version(shop, definition) == 2
    receive(shop, version(definition, 3), clock.now() + timedelta(seconds=1))
    assert stored_version(shop, definition) == 3


@WAYS
def test_request_keeps_time_of_stored_version(
    shop: Shop, record: Callable[[Shop, dict[str, Any]], None]
) -> None:
    definition, sent_at = shop.definition(), clock.now()
    shop.time.ahead += LATER
    receive(shop, version(definition, 1), clock.now())
    shop.time.ahead += LATER
    record(shop, version(definition, 3))
    receive(shop, version(definition, 2), sent_at + timedelta(minutes=7))
    assert stored_version(shop, definition) == 3


def test_rows_of_batch_keep_their_order(shop: Shop) -> None:
    definition = shop.definition()
    rows = [version(definition, number) for number in (1, 2, 1, 3, 2)]
    report_purchases(shop.account_id, rows, solicit=True)
    assert stored_version(shop, definition) == 2


def test_time_of_request_does_not_depend_on_clock_of_process(shop: Shop) -> None:
    definition = shop.definition()
    receive(shop, version(definition, 1), clock.now() - timedelta(seconds=2))
    with wrong_clock(timedelta(minutes=-5)):
        report(shop, version(definition, 2))
    assert stored_version(shop, definition) == 2


def test_late_version_does_not_replace_returned_version(shop: Shop) -> None:
    definition, first = shop.definition(), clock.now()
    second, third = first + timedelta(seconds=1), first + timedelta(seconds=2)
    shop.time.ahead += LATER
    receive(shop, version(definition, 1), first)
    receive(shop, version(definition, 1), third)
    receive(shop, version(definition, 2), second)
    assert stored_version(shop, definition) == 1
    assert row_of(shop, definition).sent_at == third


def test_returned_version_raises_only_its_time(shop: Shop) -> None:
    definition = shop.definition()
    purchase = shop.record(**definition)
    shop.solicit()
    before, decided = row_of(shop, definition), stored(purchase)
    shop.time.ahead += LATER
    with inject_fault() as requests:
        assert shop.record(**definition) == purchase
    assert requests.operations == ["BatchGetItem", "UpdateItem"]
    after = row_of(shop, definition)
    assert after.sent_at - before.sent_at >= LATER
    changed = {"sent_at": after.sent_at, "revision": 1}
    assert after.attribute_values == before.attribute_values | changed
    assert stored(purchase) == decided
    assert [customer.purchase_count for customer in all_customers(shop.account_id)] == [1]


def test_redelivered_message_writes_nothing(shop: Shop) -> None:
    definition, sent_at = shop.definition(), clock.now()
    record_purchase(shop.account_id, definition, sent_at=sent_at)
    with inject_fault() as requests:
        record_purchase(shop.account_id, definition, sent_at=sent_at)
    assert requests.operations == ["BatchGetItem"]


def test_version_that_returns_during_late_update_stays(shop: Shop) -> None:
    definition, first = shop.definition(), clock.now()
    second, third = first + timedelta(seconds=1), first + timedelta(seconds=2)
    shop.time.ahead += LATER
    receive(shop, version(definition, 1), first)

    def return_to_first() -> None:
        record_purchase(shop.account_id, version(definition, 1), sent_at=third)

    with before_request("TransactWriteItems", return_to_first):
        record_purchase(shop.account_id, version(definition, 2), sent_at=second)
    assert stored_version(shop, definition) == 1


def test_version_that_returns_does_not_raise_time_of_newer_version(shop: Shop) -> None:
    definition, first = shop.definition(), clock.now()
    second, third = first + timedelta(seconds=1), first + timedelta(seconds=2)
    shop.time.ahead += LATER
    receive(shop, version(definition, 1), first)

    def update() -> None:
        record_purchase(shop.account_id, version(definition, 2), sent_at=second)

    with before_request("UpdateItem", update):
        record_purchase(shop.account_id, version(definition, 1), sent_at=third)
    assert stored_version(shop, definition) == 1
    assert row_of(shop, definition).sent_at == third


def test_retry_does_not_make_version_newer(shop: Shop) -> None:
    definition = shop.definition()
    report(shop, version(definition, 1))

    def report_newer_version() -> None:
        shop.time.ahead += timedelta(seconds=1)
        report(shop, version(definition, 3))

    with before_request("TransactWriteItems", report_newer_version):
        report(shop, version(definition, 2))
    assert stored_version(shop, definition) == 3


def test_clock_that_is_ahead_does_not_block_later_versions(shop: Shop) -> None:
    definition = shop.definition()
    ahead = clock.now() + timedelta(hours=1)
    record_purchase(shop.account_id, version(definition, 1), sent_at=ahead)
    report(shop, version(definition, 2))
    assert stored_version(shop, definition) == 2
