"""Test random interleavings of purchases, deliveries, kills, throttling and consent changes.

The response of a request, usually of the claim, can be lost.

No address receives two surveys within the delay, no customer without consent receives a survey, no
survey is sent before the date of its purchase, and every purchase ends with the right outcome.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from admin.services.customers.save import save_customer
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
)
from chalicelib.domain.solicitation.solicitation import Solicitation
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.purchases.record import record_purchase
from chalicelib.services.solicitation import send_survey
from chalicelib.services.solicitation.case import surveys_of
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import solicitations
from tests.services.faults import Killed, before_request
from tests.services.kinds import SOLICITATIONS
from tests.services.moved_time import Time
from tests.services.queues import SOLICITATION_QUEUE
from tests.services.solicitation.soliciting import DAY_S, Shop, open_shop

pytestmark = pytest.mark.usefixtures("account")

DELAY = timedelta(days=30)
TOLERANCE = timedelta(seconds=30)
ADDRESSES = ("zoe@example.test", "zoe@example.test", "ana@example.test")
"""The addresses of the customer records. Two records have the same address."""

PEOPLE = st.integers(0, len(ADDRESSES) - 1)
REACTIONS = st.lists(
    st.sampled_from(["throttled", "sent", "rejected", "unknown", "killed before", "killed after"]),
    min_size=1,
    max_size=4,
)
"""The reactions of the provider to the next messages. After the last one, it accepts messages."""
INTERRUPTIONS = st.sampled_from(
    ["", "deliver", "deliver", "revoke", "unsubscribe", "update", "move"]
)
"""The actions of another process while a worker processes a message."""
CLAIM = 2
REQUESTS = st.sampled_from([0, 1, CLAIM, CLAIM, CLAIM, 3])
"""The request of the worker before which the other process acts. Usually, this is the claim."""
_ERRORS = {
    "throttled": MessageNotSent("Throttling"),
    "rejected": MessageRejected("Rejected"),
    "unknown": OutcomeUnknown("ReadTimeout"),
    "killed before": Killed(),
    "killed after": Killed(),
}
_OUTCOMES = {"sent": "SENT", "rejected": "REJECTED"}
"""The outcome after the last reaction of the provider. After all other reactions: UNKNOWN."""

_time: Time
_patch: pytest.MonkeyPatch


@dataclass(frozen=True)
class Attempt:
    """One attempt to send the survey about a purchase.

    Attributes:
        reaction: the reaction of the provider. Only after ``throttled``, the worker may try again.
    """

    purchase_id: str
    address: str
    tracker_id: str
    reaction: str
    at: datetime

    @property
    def is_final(self) -> bool:
        return self.reaction != "throttled"

    @property
    def may_have_arrived(self) -> bool:
        return self.reaction in ("sent", "unknown", "killed before", "killed after")


class Dispatch(RuleBasedStateMachine):
    """An account, its customers, and a model of what they may receive."""

    def __init__(self) -> None:
        super().__init__()
        _time.ahead = timedelta()
        self.shop: Shop = open_shop()
        self.shop.survey(sendingChannels=["EMAIL"], resolicitationDelay=30 * DAY_S)
        self.customer_ids = [new_id() for _ in ADDRESSES]
        self.accepts = [True] * len(ADDRESSES)
        self.has_revoked = [False] * len(ADDRESSES)
        self.suppressed: set[str] = set()
        self.attempts: list[Attempt] = []
        self.purchases: dict[str, dict[str, Any]] = {}
        self.buyers: dict[str, set[int]] = {}
        self.reactions: list[str] = []
        self.violations: list[str] = []
        for person in range(len(ADDRESSES)):
            self._save(person)
        send_survey.send_invitation = self._send

    def _save(self, person: int) -> None:
        definition = {
            "id": self.customer_ids[person],
            "email": ADDRESSES[person],
            "emailOptin": self.accepts[person],
            "phoneNumber": str(person),
        }
        save_customer(self.shop.account_id, definition)

    def _send(self, invitation: SurveyInvitation) -> str:
        person = self.customer_ids.index(invitation.customer.id)
        reaction = self.reactions.pop(0) if self.reactions else "sent"
        attempt = Attempt(
            invitation.purchase.id,
            ADDRESSES[person],
            invitation.tracker_id,
            reaction,
            clock.now(),
        )
        # The service catches exceptions, so `deliver` checks the violations.
        self.violations += self._violations(attempt, invitation, person)
        self.attempts.append(attempt)
        if attempt.reaction in _ERRORS:
            raise _ERRORS[attempt.reaction]
        return new_id()

    def _violations(
        self, attempt: Attempt, invitation: SurveyInvitation, person: int
    ) -> Iterator[str]:
        same_purchase = [a for a in self.attempts if a.purchase_id == attempt.purchase_id]
        if not self.accepts[person]:
            yield "sent without consent"
        if attempt.address in self.suppressed:
            yield "sent to a suppressed address"
        if invitation.purchase.date > attempt.at:
            yield "sent before the purchase"
        claimed = solicitations.find(attempt.purchase_id)
        if not claimed or claimed.customer_id != invitation.customer.id:
            yield "sent to a customer without a claim"
        if any(earlier.is_final for earlier in same_purchase):
            yield "sent again after a final reaction"
        if any(earlier.tracker_id != attempt.tracker_id for earlier in same_purchase):
            yield "sent with another tracker"
        if any(
            earlier.address == attempt.address
            and earlier.may_have_arrived
            and attempt.at - earlier.at < DELAY - TOLERANCE
            for earlier in self.attempts
        ):
            yield "sent twice within the delay"

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
        self.buyers[recorded.id] = {person}

    @rule(number=st.integers(0, 9), person=PEOPLE)
    def update_purchase(self, number: int, person: int) -> None:
        if self.purchases:
            purchase_id, definition = list(self.purchases.items())[number % len(self.purchases)]
            self.buyers[purchase_id].add(person)
            definition["metadata"] = {"update": new_id()}
            definition["customerId"] = self.customer_ids[person]
            record_purchase(self.shop.account_id, definition, solicit=True)

    @rule(
        people=st.permutations(range(len(ADDRESSES))),
        reactions=REACTIONS,
        is_repeated=st.booleans(),
        interruption=INTERRUPTIONS,
        request=REQUESTS,
        loses_response=st.booleans(),
    )
    def purchase_and_deliver(
        self, people: list[int], reactions: list[str], **delivery: Any
    ) -> None:
        for buyer in people:
            self.purchase(buyer, 0)
        self.reactions = list(reactions)
        self.deliver(**delivery)

    @rule(
        is_repeated=st.booleans(),
        interruption=INTERRUPTIONS,
        request=REQUESTS,
        loses_response=st.booleans(),
    )
    def deliver(
        self,
        is_repeated: bool,
        interruption: str = "",
        request: int = 0,
        loses_response: bool = False,
    ) -> None:
        # With warm caches, the third request of the worker is the claim.
        for load in (account_settings, account_directory, surveys_of):
            load(self.shop.account_id)
        bodies = SOLICITATION_QUEUE.queued_messages(self.shop.account_id)
        for body in bodies:
            buyer, purchase_id = self._buyer(body), json.loads(body)["solicitationId"]
            interrupt = partial(self._interrupt, interruption, buyer, bodies, purchase_id)
            with before_request(_patch, request, interrupt, loses_response=loses_response):
                for _ in range(1 + is_repeated):
                    self._deliver(body)
        assert self.violations == []

    def _buyer(self, body: str) -> int:
        purchase = self.purchases[json.loads(body)["solicitationId"]]
        return self.customer_ids.index(purchase["customerId"])

    def _deliver(self, body: str) -> None:
        with contextlib.suppress(Killed):
            SOLICITATION_QUEUE.deliver([body])

    def _interrupt(
        self, interruption: str, person: int, bodies: list[str], purchase_id: str = ""
    ) -> None:
        match interruption:
            case "deliver":
                for body in reversed(bodies):
                    self._deliver(body)
            case "revoke":
                self.change_consent(person, accepts=False)
            case "unsubscribe":
                self.unsubscribe(person)
            case "update":
                self.update_purchase(len(self.attempts), person)
            case "move":
                number = list(self.purchases).index(purchase_id)
                self.update_purchase(number, (person + 1) % len(ADDRESSES))

    @rule(person=PEOPLE, change=st.sampled_from(["revoke", "unsubscribe", "update"]))
    def change_while_held(self, person: int, change: str) -> None:
        self.purchase(person, days_ahead=3)
        self.deliver(is_repeated=False)
        self._interrupt(change, person, [])
        self.advance(24 * 4)
        self.deliver(is_repeated=False)

    @rule(person=PEOPLE, change=st.sampled_from(["", "revoke", "unsubscribe", "move"]))
    def change_after_lost_claim(self, person: int, change: str) -> None:
        self.deliver(is_repeated=False)
        self.advance(24 * 31)
        self.purchase(person, days_ahead=0)
        self.deliver(is_repeated=False, interruption=change, request=CLAIM, loses_response=True)

    @rule(person=PEOPLE, accepts=st.booleans())
    def change_consent(self, person: int, accepts: bool) -> None:
        self.accepts[person] = accepts
        self.has_revoked[person] |= not accepts
        self._save(person)

    @rule(person=PEOPLE)
    def unsubscribe(self, person: int) -> None:
        self.shop.suppress(ADDRESSES[person], SuppressionReason.UNSUBSCRIBED)
        self.suppressed.add(ADDRESSES[person])

    @rule(hours=st.sampled_from([0.02, 0.2, 1, 24 * 10, 24 * 31]))
    def advance(self, hours: float) -> None:
        _time.ahead += timedelta(hours=hours)
        sweep(SOLICITATIONS)

    def teardown(self) -> None:
        self.reactions = []
        for _ in range(4):
            self.advance(24 * 2)
            self.deliver(is_repeated=False)
            found = [solicitations.find(purchase_id) for purchase_id in self.purchases]
            if all(solicitation and solicitation.due_at is None for solicitation in found):
                break
        for solicitation in found:
            assert solicitation
            assert solicitation.due_at is None
            claimed = {s.id for s in found if s and s.tracker_id}
            self._check_outcome(solicitation, claimed - {solicitation.id})

    def _check_outcome(self, solicitation: Solicitation, others_claimed: set[str]) -> None:
        final = [a for a in self.attempts if a.purchase_id == solicitation.id and a.is_final]
        if final:
            assert solicitation.state == _OUTCOMES.get(final[-1].reaction, "UNKNOWN")
            return
        assert solicitation.state == "SKIPPED"
        assert solicitation.customer_id
        # The purchase may have moved to another customer after a claim.
        people = self.buyers[solicitation.id]
        explanations = {
            "NO_CONSENT": any(self.has_revoked[person] for person in people),
            "SUPPRESSED": any(ADDRESSES[person] in self.suppressed for person in people),
            # A claim counts as a survey even if its response is lost and its message is skipped.
            "ALREADY_SOLICITED": len(people) > 1 or others_claimed,
        }
        assert explanations[solicitation.reason]


def test_no_interleaving_sends_twice_or_without_consent(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    global _time, _patch
    _time, _patch = time, monkeypatch
    monkeypatch.setattr(send_survey, "send_invitation", send_survey.send_invitation)
    run_state_machine_as_test(
        Dispatch,
        settings=settings(
            max_examples=8,
            stateful_step_count=12,
            deadline=None,
            # Shrinking takes minutes.
            phases=(Phase.explicit, Phase.generate),
        ),
    )
