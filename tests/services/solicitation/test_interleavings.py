"""Test random interleavings of purchases, deliveries, kills, throttling and consent changes.

No address receives two surveys within the delay, no customer without consent receives a survey, and
every purchase ends with an outcome.
"""

import contextlib
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from chalicelib.domain import clock
from chalicelib.domain.customers.contact_hash import email_hash
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.message import SurveyInvitation
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
)
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.save import save_customer
from chalicelib.services.purchases.record import record_purchase
from chalicelib.services.solicitation import send_survey
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.services.work.kinds import SOLICITATIONS
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import solicitations
from tests.services.faults import Killed
from tests.services.moved_time import Time
from tests.services.queues import SOLICITATION_QUEUE
from tests.services.solicitation.soliciting import DAY_S, Shop, open_shop

pytestmark = pytest.mark.usefixtures("account")

DELAY = timedelta(days=30)
TOLERANCE = timedelta(seconds=30)
ADDRESSES = ("zoe@example.test", "zoe@example.test", "ana@example.test")
"""The addresses of the customer records. Two records have the same address."""

PEOPLE = st.integers(0, len(ADDRESSES) - 1)
REACTIONS = st.sampled_from(
    [*["sent"] * 5, "throttled", "rejected", "unknown", "killed before", "killed after"]
)
_ERRORS = {
    "throttled": MessageNotSent("Throttling"),
    "rejected": MessageRejected("Rejected"),
    "unknown": OutcomeUnknown("ReadTimeout"),
    "killed before": Killed(),
}
_time: Time


class Dispatch(RuleBasedStateMachine):
    """An account, its customers, and a model of what they may receive."""

    def __init__(self) -> None:
        super().__init__()
        _time.ahead = timedelta()
        self.shop: Shop = open_shop()
        self.shop.survey(sendingChannels=["EMAIL"], resolicitationDelay=30 * DAY_S)
        self.customer_ids = [new_id() for _ in ADDRESSES]
        self.accepts = [True] * len(ADDRESSES)
        self.suppressed: set[str] = set()
        self.sent: dict[str, list[datetime]] = defaultdict(list)
        self.purchases: dict[str, dict[str, Any]] = {}
        self.reaction = "sent"
        self.violations: list[str] = []
        for person in range(len(ADDRESSES)):
            self._save(person)
        send_survey.send_message = self._send

    def _save(self, person: int) -> None:
        definition = {
            "id": self.customer_ids[person],
            "email": ADDRESSES[person],
            "emailOptin": self.accepts[person],
            "phoneNumber": str(person),
        }
        save_customer(self.shop.account_id, definition)

    def _send(self, invitation: SurveyInvitation) -> str:
        if self.reaction in _ERRORS:
            raise _ERRORS[self.reaction]
        person = self.customer_ids.index(invitation.customer.id)
        address, now = ADDRESSES[person], clock.now()
        # The service catches exceptions, so `deliver` checks the violations.
        if not self.accepts[person]:
            self.violations.append("sent without consent")
        if address in self.suppressed:
            self.violations.append("sent to a suppressed address")
        if any(now - at < DELAY - TOLERANCE for at in self.sent[address]):
            self.violations.append("sent twice")
        self.sent[address].append(now)
        if self.reaction == "killed after":
            raise Killed
        return new_id()

    @rule(person=PEOPLE, days_ahead=st.sampled_from([0, 0, 0, 3]))
    def purchase(self, person: int, days_ahead: int) -> None:
        definition = {
            "source": "Site",
            "externalId": new_id(),
            "storeId": self.shop.store_id,
            "date": format_timestamp(clock.now() + timedelta(days=days_ahead)),
            "customerId": self.customer_ids[person],
        }
        recorded = record_purchase(self.shop.account_id, definition, solicit=True)
        self.purchases[recorded.id] = definition

    @rule(people=st.permutations(range(len(ADDRESSES))))
    def purchases_of_all(self, people: list[int]) -> None:
        for person in people:
            self.purchase(person, 0)

    @rule(number=st.integers(0, 9), person=PEOPLE)
    def update_purchase(self, number: int, person: int) -> None:
        if self.purchases:
            definition = list(self.purchases.values())[number % len(self.purchases)]
            definition["metadata"] = {"update": new_id()}
            definition["customerId"] = self.customer_ids[person]
            record_purchase(self.shop.account_id, definition, solicit=True)

    @rule(reaction=REACTIONS, is_repeated=st.booleans())
    def deliver(self, reaction: str, is_repeated: bool) -> None:
        self.reaction = reaction
        for body in SOLICITATION_QUEUE.queued_messages(self.shop.account_id):
            for _ in range(1 + is_repeated):
                with contextlib.suppress(Killed):
                    SOLICITATION_QUEUE.deliver([body])
        assert self.violations == []

    @rule(person=PEOPLE, accepts=st.booleans())
    def change_consent(self, person: int, accepts: bool) -> None:
        self.accepts[person] = accepts
        self._save(person)

    @rule(person=PEOPLE)
    def unsubscribe(self, person: int) -> None:
        contact_hash = email_hash(self.shop.account_id, ADDRESSES[person])
        assert contact_hash
        reason = SuppressionReason.UNSUBSCRIBED
        suppress_contact(self.shop.account_id, contact_hash, Channel.EMAIL, reason)
        self.suppressed.add(ADDRESSES[person])

    @rule(hours=st.sampled_from([0.02, 0.2, 1, 24 * 10, 24 * 31]))
    def advance(self, hours: float) -> None:
        _time.ahead += timedelta(hours=hours)
        sweep(SOLICITATIONS)

    def teardown(self) -> None:
        self.reaction = "sent"
        for _ in range(4):
            self.advance(24 * 2)
            self.deliver("sent", is_repeated=False)
        clear_caches()
        for purchase_id in self.purchases:
            solicitation = solicitations.find(purchase_id)
            assert solicitation
            assert solicitation.state in {"SENT", "SKIPPED", "REJECTED", "UNKNOWN"}
            assert solicitation.due_at is None


def test_no_interleaving_sends_twice_or_without_consent(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    global _time
    _time = time
    monkeypatch.setattr(send_survey, "send_message", send_survey.send_message)
    run_state_machine_as_test(
        Dispatch, settings=settings(max_examples=8, stateful_step_count=12, deadline=None)
    )
