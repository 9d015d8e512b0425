"""Test recording and sending if one AWS request fails, for each request and kind of fault.

After redeliveries and sweeps, the end state is always the same: one purchase, one customer with the
count 1, and at most one message. The outcome is UNKNOWN only if sending the message, or storing the
outcome, failed.
"""

import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.sending_errors import MessageNotSent
from chalicelib.services.caching import clear_caches
from chalicelib.storage import solicitations
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.time_limits import MAX_SEND_S, MIN_CALL_S
from tests.aws.faults import InjectedFault, Killed, inject_fault
from tests.lambda_context import LambdaContext
from tests.services.customers.importing import all_customers
from tests.services.moved_time import Time
from tests.services.queues import PURCHASE_QUEUE, SOLICITATION_QUEUE
from tests.services.solicitation.soliciting import Shop, outcome, stored

REQUESTS = [
    "BatchGetItem",  # the purchase and everything that it refers to
    "TransactWriteItems",
    "SendMessageBatch",
    "BatchGetItem",  # the solicitation, the purchase and the customer
    "BatchGetItem",  # the contacts
    "TransactWriteItems",  # the claim
    "TransactWriteItems",  # the outcome
]
OUTCOME = len(REQUESTS) - 1
CLAIM = OUTCOME - 1


@pytest.fixture
def warm(shop: Shop) -> Shop:
    """Load the caches of the functions, so that only the listed requests are sent."""
    shop.record(customer={"email": "warm-up@example.test", "emailOptin": True})
    shop.solicit()
    return shop


def process(shop: Shop, bodies: list[str]) -> None:
    """Deliver the purchases and the solicitations. Redeliver failed messages."""
    for receive_count in (1, 2, 3):
        try:
            bodies = PURCHASE_QUEUE.deliver(bodies, receive_count) if bodies else []
        except Killed:
            continue
    assert bodies == []
    SOLICITATION_QUEUE.deliver_all(shop.account_id)


def finish(shop: Shop, time: Time) -> SolicitationRow:
    """Sweep until the solicitation of the purchase has ended. Return the solicitation."""
    for _ in range(30):
        rows = [
            row
            for row in SolicitationRow.scan(SolicitationRow.account_id == shop.account_id)
            if row.external_id == "faulty"
        ]
        if rows and rows[0].due_at is None:
            return rows[0]
        try:
            shop.advance(timedelta(minutes=10))
        except Killed:
            continue
    raise AssertionError("The solicitation did not end.")


def body_of(shop: Shop) -> str:
    purchase: dict[str, Any] = shop.definition(externalId="faulty")
    return json.dumps({"accountId": shop.account_id, "purchase": purchase})


def test_purchase_sends_expected_aws_requests(warm: Shop) -> None:
    with inject_fault() as requests:
        process(warm, [body_of(warm)])
    assert requests.operations == REQUESTS


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_single_aws_fault_does_not_change_end_state(
    warm: Shop, number: int, fault: InjectedFault
) -> None:
    sent_before = len(warm.provider.sent)
    body = body_of(warm)
    with inject_fault(number, fault):
        process(warm, [body])
    row = finish(warm, warm.time)
    sent = len(warm.provider.sent) - sent_before
    # A killed function may not have stored the outcome of its message.
    lost_outcome = number == OUTCOME and fault in {
        InjectedFault.KILLED_BEFORE,
        InjectedFault.ACCESS_DENIED,
    }
    lost_claim = number == CLAIM and fault is InjectedFault.KILLED_AFTER
    if lost_outcome or lost_claim:
        assert (row.state, sent) == ("UNKNOWN", int(lost_outcome))
    else:
        assert (row.state, sent) == ("SENT", 1)
    counts = [customer.purchase_count for customer in all_customers(warm.account_id)]
    assert counts == [1, 1]
    clear_caches()
    process(warm, [body])
    warm.advance(timedelta(days=1))
    assert len(warm.provider.sent) - sent_before == sent
    stored = solicitations.find(row.solicitation_id)
    assert stored
    assert stored.state == row.state


def test_outcome_is_stored_after_throttling_while_time_is_left(warm: Shop) -> None:
    context = LambdaContext()
    warm.provider.reactions = [lambda _: setattr(context, "left_s", MIN_CALL_S + 1)]
    purchase = warm.record()
    bodies = SOLICITATION_QUEUE.queued_messages(warm.account_id)
    outcome_request = OUTCOME - REQUESTS.index("SendMessageBatch") - 1
    with inject_fault(outcome_request, InjectedFault.THROTTLED) as requests:
        SOLICITATION_QUEUE.deliver(bodies, context=context)
    assert requests.operations.count("TransactWriteItems") == 3
    assert outcome(purchase) == ("SENT", "")


def test_message_is_not_sent_again_after_throttling_if_time_for_outcome_would_be_too_short(
    warm: Shop,
) -> None:
    context = LambdaContext()

    def throttle(_: SurveyInvitation) -> None:
        context.left_s = MAX_SEND_S + MIN_CALL_S
        raise MessageNotSent("Throttling")

    warm.provider.reactions = [throttle]
    sent_before = len(warm.provider.sent)
    purchase = warm.record()
    SOLICITATION_QUEUE.deliver(SOLICITATION_QUEUE.queued_messages(warm.account_id), context=context)
    assert len(warm.provider.sent) == sent_before
    assert outcome(purchase) == ("PENDING", "Throttling")


def test_survey_is_not_claimed_while_url_of_links_is_unavailable(
    warm: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise Unavailable("throttled")

    monkeypatch.setattr("chalicelib.storage.stage_values._stored_url", fail)
    sent_before = len(warm.provider.sent)
    purchase = warm.record()
    SOLICITATION_QUEUE.deliver(
        SOLICITATION_QUEUE.queued_messages(warm.account_id), context=LambdaContext(left_s=40)
    )
    solicitation = stored(purchase)
    assert (solicitation.state.value, solicitation.tracker_id) == ("PENDING", None)
    assert solicitation.reason == "public base URL unavailable"
    assert solicitation.processed_at
    assert len(warm.provider.sent) == sent_before


@pytest.mark.parametrize("after_sending", [False, True])
def test_function_killed_while_sending_leads_to_outcome_unknown(
    shop: Shop, *, after_sending: bool
) -> None:
    shop.provider.reactions = [Killed()]
    shop.provider.fails_after_sending = after_sending
    process(shop, [body_of(shop)])
    assert finish(shop, shop.time).state == "UNKNOWN"
    assert len(shop.provider.sent) == int(after_sending)
