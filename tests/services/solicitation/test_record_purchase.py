"""Test that a purchase is recorded exactly once, even if it is received several times."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import boto3
import pytest

from admin.services.accounts.settings import change_account_settings
from admin.services.close_account import close_account
from admin.services.customers.save import save_customer
from admin.services.definitions.kinds import STORE, save
from admin.storage import counts
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import Blocked
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.purchases.partner_requests import PurchaseReport
from chalicelib.domain.purchases.purchase import Purchase, purchase_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.read import read_customer
from chalicelib.services.purchases.record import input_hash_of
from chalicelib.storage import counters, purchases
from chalicelib.storage.counters import Counted, Listed
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import Key, account_key, find_row
from tests.aws.faults import before_request, inject_fault
from tests.services.customers.importing import all_customers
from tests.services.purchases import record_purchase
from tests.services.queues import LISTING_QUEUE, PURCHASE_QUEUE, SOLICITATION_QUEUE
from tests.services.solicitation.soliciting import Shop, outcome, stored
from tests.web.definitions import customer_definition, store_definition


def message(shop: Shop, definition: dict[str, Any]) -> str:
    return json.dumps({"accountId": shop.account_id, "purchase": definition})


def customer_of(shop: Shop, purchase: Purchase) -> Customer:
    assert purchase.customer_id
    return read_customer(shop.account_id, purchase.customer_id)


def dead_letters() -> list[dict[str, Any]]:
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="feedback-test-purchases-dead")["QueueUrl"]
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    for letter in received:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=letter["ReceiptHandle"])
    return [json.loads(letter["Body"]) for letter in received]


def test_purchase_of_new_customer_takes_three_requests(shop: Shop) -> None:
    shop.record(customer={"email": "warm-up@example.test", "emailOptin": True})
    with inject_fault() as requests:
        purchase = shop.record()
    assert requests.operations == ["BatchGetItem", "TransactWriteItems", "SendMessageBatch"]
    customer = customer_of(shop, purchase)
    assert (customer.purchase_count, customer.type, customer.data_sources) == (
        1,
        "Purchaser",
        ("Site",),
    )
    assert customer.email_optin


def test_purchase_without_request_takes_two_requests_and_is_skipped(shop: Shop) -> None:
    shop.record(customer={"email": "warm-up@example.test", "emailOptin": True})
    with inject_fault() as requests:
        purchase = record_purchase(shop.account_id, shop.definition())
    assert requests.operations == ["BatchGetItem", "TransactWriteItems"]
    assert outcome(purchase) == ("SKIPPED", "NOT_REQUESTED")
    assert stored(purchase).due_at is None


@pytest.mark.parametrize("is_new", [True, False])
def test_purchase_does_not_turn_on_optin_of_address_that_is_suppressed_meanwhile(
    shop: Shop, is_new: bool
) -> None:
    email = "zoe@example.test"
    if not is_new:
        shop.record(customer={"email": email})
    suppress = partial(shop.suppress, email, SuppressionReason.OPTED_OUT)
    with before_request("TransactWriteItems", suppress):
        purchase = record_purchase(
            shop.account_id, shop.definition(customer={"email": email, "emailOptin": True})
        )
    customer = customer_of(shop, purchase)
    assert (customer.email_optin, customer.purchase_count) == (False, 1 if is_new else 2)


def test_queue_function_counts_purchase_once_however_often_it_is_delivered(shop: Shop) -> None:
    definition = shop.definition()
    body = message(shop, definition)
    assert PURCHASE_QUEUE.deliver([body, body]) == []
    assert PURCHASE_QUEUE.deliver([body], receive_count=2) == []
    assert [customer.purchase_count for customer in all_customers(shop.account_id)] == [1]
    assert counts.load_counts(shop.account_id)[Counted.PURCHASES].number == 1
    assert len(set(SOLICITATION_QUEUE.queued_messages(shop.account_id))) == 1


@pytest.mark.parametrize(("later_ms", "expected"), [(-1, {"n": 1}), (0, {"n": 2}), (1, {"n": 2})])
def test_older_message_does_not_replace_newer_version(
    shop: Shop, later_ms: int, expected: dict[str, int]
) -> None:
    definition, now = shop.definition(), clock.now()
    first, second = (message(shop, definition | {"metadata": {"n": n}}) for n in (1, 2))
    PURCHASE_QUEUE.deliver([first], sent_at=now)
    later = now + timedelta(milliseconds=later_ms)
    assert PURCHASE_QUEUE.deliver([second], receive_count=2, sent_at=later) == []
    record_id = purchase_id(shop.account_id, DataSource("Site"), definition["externalId"])
    purchase = purchases.find(shop.account_id, record_id)
    assert purchase
    assert purchase.metadata == expected


def test_purchases_with_same_email_and_phone_number_belong_to_one_customer(shop: Shop) -> None:
    first = shop.record(customer={"email": "zoe@example.test", "phoneNumber": "+33 6 12 34 56 78"})
    second = shop.record(customer={"email": "ZOE@example.test", "phoneNumber": "0033612345678"})
    assert first.customer_id == second.customer_id
    assert customer_of(shop, first).purchase_count == 2


def test_update_moves_count_from_customer_that_is_visible_later(shop: Shop) -> None:
    definition = shop.definition()
    key = account_key(shop.account_id, shop.record(**definition).customer_id or "")
    first = CustomerRow.get(key)
    first.delete()
    with before_request("TransactWriteItems", first.save):
        shop.record(**{**definition, "customer": {"email": "ana@example.test"}})
    assert CustomerRow.get(key).purchase_count == 0


def test_update_moves_count_to_new_customer(shop: Shop) -> None:
    definition = shop.definition()
    first = shop.record(**definition)
    moved = shop.record(**{**definition, "customer": {"email": "ana@example.test"}})
    assert moved.id == first.id
    assert moved.created_at == first.created_at
    assert customer_of(shop, first).purchase_count == 0
    assert customer_of(shop, moved).purchase_count == 1
    assert counts.load_counts(shop.account_id)[Counted.PURCHASES].number == 1


def test_purchase_turns_optin_of_existing_customer_on(shop: Shop) -> None:
    customer = save_customer(shop.account_id, customer_definition(email="zoe@example.test"))
    purchase = shop.record(customer={"email": "zoe@example.test", "emailOptin": True})
    assert purchase.customer_id == customer.id
    assert customer_of(shop, purchase).email_optin
    shop.record(customer={"email": "zoe@example.test", "emailOptin": False})
    assert customer_of(shop, purchase).email_optin


def test_optin_of_purchase_does_not_create_missing_customer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.0)
    definition = shop.definition(customer={"email": "zoe@example.test"})
    purchase = shop.record(**definition)
    key = account_key(shop.account_id, purchase.customer_id or "")
    CustomerRow(key).delete()  # as by a restore
    with pytest.raises(Blocked):
        shop.record(**definition | {"customer": {"email": "zoe@example.test", "emailOptin": True}})
    assert find_row(Key(CustomerRow, key)) is None


def test_store_that_is_newer_than_cache_is_accepted(shop: Shop) -> None:
    shop.record()
    store = save(STORE, shop.account_id, store_definition(shop.brand_id))
    assert shop.record(storeId=store.id).store_id == store.id


def test_survey_of_store_that_is_newer_than_cache_of_worker_is_sent(shop: Shop) -> None:
    target = {"type": "BRAND", "targetId": shop.brand_id, "enabled": True}
    shop.survey(targets=[target])
    cached = account_directory(shop.account_id)
    store = save(STORE, shop.account_id, store_definition(shop.brand_id))
    purchase = shop.record(storeId=store.id)
    account_directory.store(cached, shop.account_id)  # as in another process
    shop.solicit()
    assert outcome(purchase) == ("SENT", "")


@pytest.mark.parametrize(
    "change",
    [
        {"storeId": new_id()},
        {"source": "Pigeon"},
        {"date": "yesterday"},
        {"unknown": 1},
        {"metadata": {"text": "x" * 33_000}},
        {"metadata": json.loads('{"a":' * 201 + "1" + "}" * 201)},
    ],
)
def test_invalid_message_moves_to_dead_letter_queue(shop: Shop, change: dict[str, Any]) -> None:
    dead_letters()
    valid, invalid = shop.definition(), shop.definition(**change)
    assert PURCHASE_QUEUE.deliver([message(shop, invalid), message(shop, valid)]) == []
    assert dead_letters() == [json.loads(message(shop, invalid))]
    assert counts.load_counts(shop.account_id)[Counted.PURCHASES].number == 1


@pytest.mark.parametrize(
    ("change", "external_id", "reasons"),
    [
        ({"externalId": "A-1", "date": "yesterday"}, "A-1", ["/date invalid_timestamp"]),
        ({"externalId": "x" * 255, "date": "now"}, "x" * 255, ["/date invalid_timestamp"]),
        ({"externalId": "x" * 256}, "x" * 255, ["/externalId too_long"]),
        ({"externalId": 7}, None, ["/externalId wrong_type"]),
        (
            {"externalId": "A-2", "metadata": {"text": "x" * 33_000}},
            "A-2",
            ["The purchase exceeds 32768 bytes."],
        ),
    ],
)
def test_log_line_of_rejected_purchase_contains_external_id_and_reasons(
    shop: Shop,
    change: dict[str, Any],
    external_id: str | None,
    reasons: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    PURCHASE_QUEUE.deliver([message(shop, shop.definition(**change))])
    (record,) = [vars(r) for r in caplog.records if r.message == "purchase rejected"]
    assert (record["external_id"], record["errors"]) == (external_id, reasons)


def test_message_for_closed_account_moves_to_dead_letter_queue(shop: Shop) -> None:
    dead_letters()
    close_account(shop.account_id, "operator", lambda _: None)
    clear_caches()  # as a minute later
    body = message(shop, shop.definition(customer={"email": "zoe@example.test"}))
    assert PURCHASE_QUEUE.deliver([body]) == []
    assert dead_letters() == [json.loads(body)]
    assert counts.load_counts(shop.account_id)[Counted.PURCHASES].number == 0


def test_message_that_is_no_purchase_moves_to_dead_letter_queue(shop: Shop) -> None:
    dead_letters()
    assert PURCHASE_QUEUE.deliver(['{"accountId": "x"}', "[]"]) == []
    assert dead_letters() == [{"accountId": "x"}, []]


def test_concurrent_purchases_of_new_pair_create_one_customer(shop: Shop) -> None:
    other = shop.definition()
    with before_request("TransactWriteItems", lambda: record_purchase(shop.account_id, other)):
        purchase = shop.record()
    assert [customer.purchase_count for customer in all_customers(shop.account_id)] == [2]
    assert customer_of(shop, purchase).purchase_count == 2


def test_concurrent_updates_count_purchase_once(shop: Shop) -> None:
    definition = shop.definition()
    with before_request("TransactWriteItems", lambda: shop.record(**definition)):
        shop.record(**definition)
    assert [customer.purchase_count for customer in all_customers(shop.account_id)] == [1]


def test_purchase_is_recorded_while_counter_is_reserved(shop: Shop) -> None:
    counters.reserve(shop.account_id, Listed.CUSTOMERS, clock.now())
    purchase = shop.record()
    assert all_customers(shop.account_id) == []
    assert customer_of(shop, purchase).purchase_count == 1
    shop.time.ahead += timedelta(seconds=20)
    assert LISTING_QUEUE.deliver(LISTING_QUEUE.queued_messages(shop.account_id)) == []
    assert [customer.id for customer in all_customers(shop.account_id)] == [purchase.customer_id]


def test_contended_counter_does_not_delay_purchase(shop: Shop) -> None:
    shop.record()
    create = {"customer": {"email": "ana@example.test"}}
    with before_request("TransactWriteItems", lambda: shop.record(**create)) as requests:
        shop.record(customer={"email": "bo@example.test"})
    # The second transaction creates the customer without a position, and a worker is requested.
    assert requests.operations.count("TransactWriteItems") == 2
    assert requests.operations.count("SendMessageBatch") == 2


def test_purchase_without_pair_creates_one_customer(shop: Shop) -> None:
    definition = shop.definition(customer={"firstName": "Zoé"})
    first = shop.record(**definition)
    second = shop.record(**{**definition, "metadata": {"a": 1}})
    assert first.customer_id == second.customer_id
    assert customer_of(shop, first).purchase_count == 1


def test_later_request_does_not_change_outcome_of_import(shop: Shop) -> None:
    definition = shop.definition(date=format_timestamp(clock.now()))
    record_purchase(shop.account_id, definition)
    purchase = shop.record(**{**definition, "metadata": {"a": 1}})
    clear_caches()
    assert outcome(purchase) == ("SKIPPED", "NOT_REQUESTED")


@pytest.mark.parametrize("receives", [1, 9, 10])
def test_message_is_redelivered_if_too_little_time_is_left(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, receives: int
) -> None:
    monkeypatch.setattr("chalicelib.services.work.partial_batch.time_left_s", lambda: 1.0)
    body = message(shop, shop.definition())
    assert PURCHASE_QUEUE.deliver([body], receives) == [body]
    assert counts.load_counts(shop.account_id)[Counted.PURCHASES].number == 0


def test_message_without_offset_is_in_time_zone_of_account(shop: Shop) -> None:
    change_account_settings(shop.account_id, {"timeZone": "Europe/Paris"}, "operator")
    clear_caches()
    definition = shop.definition(date="2026-11-20T10:00:00", endDate="2026-11-21T10:00:00Z")
    assert PURCHASE_QUEUE.deliver([message(shop, definition)]) == []
    record_id = purchase_id(shop.account_id, DataSource("Site"), definition["externalId"])
    purchase = purchases.find(shop.account_id, record_id)
    assert purchase
    assert format_timestamp(purchase.date) == "2026-11-20T09:00:00.000Z"
    assert format_timestamp(purchase.end_date) == "2026-11-21T10:00:00.000Z"


def test_request_and_message_of_same_purchase_have_same_hash(shop: Shop) -> None:
    definition = shop.definition(sendAt=None)
    report = parse({**definition, "solicit": False}, PurchaseReport)
    assert input_hash_of(report) == input_hash_of(parse(definition, PurchaseDefinition))
