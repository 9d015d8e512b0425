"""Test that recorded erasures are repeated after a restore from a backup."""

import tracemalloc
from datetime import timedelta
from itertools import islice
from typing import Any

import boto3
import pytest

from admin.services.accounts.settings import change_account_settings
from admin.services.customers.save import save_customer
from admin.services.erasure import replay
from admin.services.erasure.replay import replay_erasures
from admin.storage import customer_ids
from chalicelib.domain import clock
from chalicelib.domain.feedback.feed import FeedRequest
from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.feed import read_feed
from chalicelib.storage import customers, feedback
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.counters import CounterRow
from chalicelib.storage.customers import CustomerPairRow, CustomerRow
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.imports import ImportRow
from tests.services.customers.importing import accept_batch, all_customers
from tests.services.erasure.erasing import erase, erased, finish
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time, wrong_clock
from tests.services.queues import FEEDBACK_QUEUE, IMPORT_QUEUE
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount

TABLES = ("customers", "customer-pairs", "counters", "purchases", "feedback", "trackers")
EMAIL = "zoe@example.test"


def backup() -> dict[str, list[Any]]:
    client = boto3.client("dynamodb")
    return {table: client.scan(TableName=f"feedback-test-{table}")["Items"] for table in TABLES}


def restore(tables: dict[str, list[Any]]) -> None:
    """Write the rows of a backup. Rows that were created after the backup stay."""
    client = boto3.client("dynamodb")
    for table, items in tables.items():
        for item in items:
            client.put_item(TableName=f"feedback-test-{table}", Item=item)


def only_contact(account: str) -> Any:
    rows = (row for row in ContactRow.scan() if row.account_id == account)
    (row,) = (row for row in rows if row.suppressed_email)
    return row


@pytest.fixture
def erased_and_restored(seeded: SeededAccount, time: Time) -> SeededAccount:
    """Erase a person after a backup, then restore the backup."""
    definition = customer_definition(id=seeded.customer_id, email=EMAIL)
    save_customer(seeded.account_id, definition)
    answer_survey(seeded, seeded.tracker(), nps="9", note="canary")
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    tables = backup()
    erase(seeded.account_id, seeded.customer_id)
    finish(seeded.account_id, seeded.customer_id, time)
    restore(tables)
    return seeded


def test_replay_erases_restored_person_and_suppresses_address(
    erased_and_restored: SeededAccount, time: Time
) -> None:
    seeded = erased_and_restored
    only_contact(seeded.account_id).delete()
    (repeated,) = replay_erasures(lambda _: None)
    assert erased(repeated) == {"customers": 1, "purchases": 1, "feedback": 1, "trackers": 1}
    assert all_customers(seeded.account_id) == []
    assert only_contact(seeded.account_id).suppressed_email == "ERASED"
    finish(seeded.account_id, seeded.customer_id, time)
    assert replay_erasures(lambda _: None) == []


def test_replay_finds_person_without_customer(erased_and_restored: SeededAccount) -> None:
    seeded = erased_and_restored
    CustomerRow(f"{seeded.account_id}#{seeded.customer_id}").delete()
    (repeated,) = replay_erasures(lambda _: None)
    assert erased(repeated) == {"purchases": 1, "feedback": 1, "trackers": 1}


def test_replay_keeps_customer_that_was_created_again(seeded: SeededAccount, time: Time) -> None:
    erase(seeded.account_id, seeded.customer_id)
    finish(seeded.account_id, seeded.customer_id, time)
    time.ahead += timedelta(minutes=1)
    definition = customer_definition(id=seeded.customer_id)
    save_customer(seeded.account_id, definition)
    assert replay_erasures(lambda _: None) == []
    assert seeded.customer.id == seeded.customer_id


def test_replay_anonymizes_unlinked_feedback(seeded: SeededAccount, time: Time) -> None:
    change_account_settings(seeded.account_id, {"identifyRespondents": False}, "operator")
    clear_caches()
    save_customer(seeded.account_id, customer_definition(id=seeded.customer_id, email=EMAIL))
    submitted = answer_contact_form(seeded, note="canary", mail=EMAIL)
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    row = FeedbackRow.get(submitted.id)
    erase(seeded.account_id, seeded.customer_id)
    finish(seeded.account_id, seeded.customer_id, time)
    row.save()
    cursor = read_feed(seeded.account_id, FeedRequest()).meta.cursor
    replay_erasures(lambda _: None)
    stored = feedback.find(submitted.id)
    assert stored
    assert stored.feedback.answers == ()
    page = read_feed(seeded.account_id, FeedRequest(cursor=cursor))
    assert [(item.id, item.anonymized) for item in page.items] == [(submitted.id, True)]


def test_replay_erases_rows_of_restored_unfinished_import(account: str, time: Time) -> None:
    accept_batch(account, {"batch": [{"email": EMAIL}, {"email": "max@example.test"}]})
    chunks = list(ImportRow.scan())
    bodies = IMPORT_QUEUE.queued_messages(account)
    IMPORT_QUEUE.deliver(bodies)
    customer_id = customers.find_by_email(account, EMAIL)[0].id
    erase(account, customer_id)
    finish(account, customer_id, time)
    for table in (CustomerRow, CustomerPairRow, CounterRow):
        for row in table.scan():
            row.delete()
    for chunk in chunks:
        chunk.save()
    replay_erasures(lambda _: None)
    IMPORT_QUEUE.deliver(bodies)
    assert [customer.email for customer in all_customers(account)] == ["max@example.test"]


def test_replay_erases_rows_of_restored_import_whose_clock_was_fast(
    account: str, time: Time
) -> None:
    save_customer(account, {"id": (customer_id := new_id()), "email": EMAIL})
    with wrong_clock(timedelta(minutes=4)):
        accept_batch(account, {"batch": [{"email": EMAIL}]})
    (chunk,) = (row for row in ImportRow.scan() if row.rows)
    erase(account, customer_id)
    finish(account, customer_id, time)
    chunk.save()
    replay_erasures(lambda _: None)
    chunk.refresh()
    assert replay.digests_of(chunk) == set()


def test_memory_of_replay_does_not_depend_on_number_of_customers(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = ((account, f"customer {n}", clock.now()) for n in range(20_000))
    # The first customer reads the stage's secret. The client that reads it needs memory too.
    for read in (islice(references, 1), references):
        monkeypatch.setattr(customer_ids, "scan", lambda read=read: read)
        tracemalloc.start()
        replay_erasures(lambda _: None)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2_000_000
