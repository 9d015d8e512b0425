"""Test that an erasure ends correctly if the process is killed after any of its AWS requests.

After sweeps, the end state is always the same: no record contains data of the customer, the
positions have no gaps, and the receipt counts each record once.
"""

import contextlib

import pytest

from admin.services.customers.save import save_customer
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.parsing import parse
from chalicelib.services.customers.create import create_customer
from chalicelib.storage import erasures
from chalicelib.storage.stage_values import stage_secret
from tests.aws.faults import InjectedFault, Killed, inject_fault
from tests.services.customers.importing import accept_batch, all_customers
from tests.services.erasure.erasing import erase, erased, finish
from tests.services.erasure.stored import stored_texts
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, IMPORT_QUEUE
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount

EMAIL = "zoe@example.test"
EXPECTED = {
    "customers": 1,
    "purchases": 1,
    "feedback": 3,
    "solicitations": 1,
    "trackers": 1,
    "import_rows": 1,
}
REQUESTS = [
    "BatchGetItem",  # the customer
    "BatchGetItem",  # an earlier erasure
    "Query",  # other customers with the address
    "TransactWriteItems",  # the erasure and the suppressions
    "BatchGetItem",  # the erasure
    *["Query"] * 5,  # import chunks: four shards, and the parked shard
    "BatchGetItem",
    "BatchGetItem",  # the header of the import
    "TransactWriteItems",
    *["Query"] * 2,  # feedback by customer and by pair
    "BatchGetItem",
    "BatchGetItem",  # the head of the partners' feed
    "TransactWriteItems",
    *["Query", "BatchGetItem", "TransactWriteItems"] * 3,  # purchases, solicitations, trackers
    "BatchGetItem",  # the customer
    "UpdateItem",  # reserve the counter
    "Query",  # the last customer of the list
    "BatchGetItem",  # the pair
    "Query",  # the next customer with the pair
    "TransactWriteItems",
    "BatchGetItem",  # the erasure
    "UpdateItem",  # schedule the next pass
]
_READS = ("Query", "GetItem", "BatchGetItem")
WRITES = [n for n, operation in enumerate(REQUESTS) if operation not in _READS]
"""The requests that can change the state.

A kill after a read has the same effect as a kill before the read.
"""


@pytest.fixture
def others(seeded: SeededAccount, time: Time) -> set[str]:
    """Store records of a customer in all tables, and three more customers. Return these three."""
    account = seeded.account_id
    assert stage_secret()  # fill the cache
    save_customer(account, customer_definition(id=seeded.customer_id, email=EMAIL))
    created = {
        create_customer(account, parse({"firstName": name}, CustomerBody)).id for name in "ABC"
    }
    answer_survey(seeded, seeded.tracker(), nps="9", note="canary")
    answer_contact_form(seeded, note="canary", mail=EMAIL)
    FEEDBACK_QUEUE.deliver_all(account)
    answer_contact_form(seeded, note="canary", mail=EMAIL)
    accept_batch(account, {"batch": [{"email": EMAIL, "company": "canary"}]})
    return created


def test_erasure_sends_expected_aws_requests(seeded: SeededAccount, others: set[str]) -> None:
    with inject_fault() as requests:
        erase(seeded.account_id, seeded.customer_id)
    assert requests.operations == REQUESTS
    assert others


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (0, InjectedFault.KILLED_BEFORE),
        *((number, InjectedFault.KILLED_AFTER) for number in WRITES),
    ],
)
def test_killed_erasure_reaches_same_end_state(
    seeded: SeededAccount,
    others: set[str],
    time: Time,
    number: int,
    fault: InjectedFault,
) -> None:
    account, customer_id = seeded.account_id, seeded.customer_id
    with inject_fault(number, fault), contextlib.suppress(Killed):
        erase(account, customer_id)
    if erasures.find(erasures.erasure_id(account, customer_id)) is None:
        erase(account, customer_id)  # the operator repeats the command
    ended = finish(account, customer_id, time)
    assert erased(ended) == EXPECTED
    FEEDBACK_QUEUE.deliver_all(account)
    IMPORT_QUEUE.deliver_all(account)
    assert {customer.id for customer in all_customers(account)} == others
    assert [text for text in stored_texts(account) if EMAIL in text or "canary" in text] == []
    assert seeded.counts == (2, 0, 1)
