"""Test that an erasure removes a unique text that was stored in every personal field."""

import json
from typing import Any

import boto3
import pytest

from admin.services.customers.save import save_customer
from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.customers.create import create_customer
from tests.services.customers.importing import accept_batch, all_customers
from tests.services.erasure.erasing import erase, finish
from tests.services.erasure.personal_fields import customer_body
from tests.services.erasure.stored import queue_texts, table_texts
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time
from tests.services.queues import (
    FEEDBACK_QUEUE,
    IMPORT_QUEUE,
    PURCHASE_QUEUE,
    SOLICITATION_QUEUE,
    WEBHOOK_QUEUE,
)
from tests.services.solicitation.provider import Provider
from tests.services.webhooks.delivering import Receiver, add_workflow
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount

CANARY = "kanarienvogel"
PHONE = "+33612340987"
EMAIL = f"{CANARY}@example.test"
ATTRIBUTE = {"attribute": CANARY, "type": "TEXT", "text": CANARY, "value": CANARY}
BODY = customer_body(CANARY, EMAIL, PHONE)
ANSWERS = {"note": CANARY, "mail": EMAIL, "phone": PHONE, "nps": "9"}


def purchase(seeded: SeededAccount, **fields: Any) -> dict[str, Any]:
    return {
        "source": "Site",
        "externalId": new_id(),
        "storeId": seeded.store_id,
        "date": format_timestamp(clock.now()),
        "customer": BODY,
        "metadata": {CANARY: CANARY},
        "attributes": [ATTRIBUTE],
        **fields,
    }


def message(seeded: SeededAccount, **fields: Any) -> str:
    return json.dumps({"accountId": seeded.account_id, "purchase": purchase(seeded, **fields)})


def plant(seeded: SeededAccount) -> None:
    """Store the text through the API, a batch, submissions, purchases and a definition."""
    account = seeded.account_id
    create_customer(account, parse(BODY, CustomerBody), idempotency_key="key")
    accept_batch(account, {"batch": [BODY, BODY]}, idempotency_key="key")
    metadata = {"google": {CANARY: CANARY}}
    definition = {**BODY, "metadata": metadata, "attributes": [ATTRIBUTE], "id": seeded.customer_id}
    save_customer(account, customer_definition(**definition))
    answer_contact_form(seeded, **ANSWERS)
    answer_survey(seeded, seeded.tracker(metadata={CANARY: CANARY}), **ANSWERS)
    assert PURCHASE_QUEUE.deliver([message(seeded)]) == []


def run_work(seeded: SeededAccount) -> None:
    """Deliver the messages of all queues."""
    for queue in (IMPORT_QUEUE, FEEDBACK_QUEUE, SOLICITATION_QUEUE, WEBHOOK_QUEUE):
        queue.deliver_all(seeded.account_id)


def copies() -> set[str]:
    """Return the tables and queues that contain the text or the phone number."""
    return {
        name
        for name, text in [*table_texts(boto3.client("dynamodb")), *queue_texts()]
        if CANARY in text.lower() or PHONE in text
    }


def test_only_copies_on_receipt_contain_erased_person(
    seeded: SeededAccount,
    time: Time,
    provider: Provider,
    receiver: Receiver,
    capfd: pytest.CaptureFixture[str],
) -> None:
    seeded.survey(sendingChannels=["EMAIL"])
    add_workflow(seeded.account_id)
    plant(seeded)
    run_work(seeded)
    # Work that is still unfinished when the operator erases the person.
    answer_contact_form(seeded, **ANSWERS)
    accept_batch(seeded.account_id, {"batch": [BODY]})
    # An invalid message with the person moves to the dead-letter queue.
    assert PURCHASE_QUEUE.deliver([message(seeded, storeId=new_id())]) == []
    tables = {name for name, text in table_texts(boto3.client("dynamodb")) if CANARY in text}
    assert {name.removeprefix("feedback-test-") for name in tables} >= {
        "customers",
        "purchases",
        "feedback",
        "imports",
    }
    assert len(provider.sent) == 1
    persons = [customer.id for customer in all_customers(seeded.account_id)]
    assert len(persons) == 2
    for customer_id in persons:
        erase(seeded.account_id, customer_id)
    for customer_id in persons:
        finish(seeded.account_id, customer_id, time)
    run_work(seeded)
    assert all_customers(seeded.account_id) == []
    assert copies() == {"feedback-test-purchases-dead"}
    logged = capfd.readouterr()
    assert CANARY not in logged.out + logged.err
    assert PHONE not in logged.out + logged.err
