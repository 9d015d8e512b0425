"""Test random sequences of partners' requests against a model in memory.

People buy, receive surveys, answer, refuse messages and are erased, while operators mark and delete
feedback and a receiver of webhooks fails. After each sequence, every read of the API must show what
the model predicts.
"""

from base64 import urlsafe_b64decode
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from chalice.test import Client
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from admin.services.feedback.exclude import delete_feedback, mark_test
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.webhooks.execution import TEST_FEEDBACK_ID
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.work.sweep import sweep
from tests.domain.forms.factories import field as question
from tests.services.kinds import WEBHOOKS
from tests.services.moved_time import Time
from tests.services.queues import ERASURE_QUEUE, WEBHOOK_QUEUE
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import open_shop
from tests.services.webhooks.delivering import Receiver, add_workflow, response_with
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner, with_permissions

PEOPLE = st.integers(0, 2)
NUMBERS = st.integers(0, 9)
NPS = new_id()
_LINKABLE = ("NO_CONSENT", "SUPPRESSED")

_client: Client
_time: Time
_provider: Provider
_receiver: Receiver


@dataclass
class Person:
    """An e-mail address.

    Attributes:
        reason: why the address gets no message; None if nothing prevents it.
        customers: the opt-in of each customer with this address, the oldest first.
        listed: the customers about whom the service has learned something.
    """

    address: str
    reason: str | None = None
    customers: dict[str, bool] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)

    @property
    def suppressed(self) -> bool:
        return self.reason is not None

    @property
    def is_erased(self) -> bool:
        return self.reason == "ERASED"

    @property
    def shown_reason(self) -> str | None:
        return "OPTED_OUT" if self.is_erased else self.reason

    @property
    def skip_reason(self) -> str:
        if self.is_erased:
            return "ERASED"
        return "SUPPRESSED" if self.suppressed else "NO_CONSENT"

    def opt_out(self) -> None:
        self.reason = self.reason or "OPTED_OUT"
        self.customers = dict.fromkeys(self.customers, False)


@dataclass
class Sale:
    """A purchase and the survey about it."""

    body: dict[str, Any]
    id: str
    person: Person
    customer: str | None
    send_at: datetime
    state: str = "PENDING"
    reason: str | None = None
    channel: str | None = None
    feedback: str | None = None
    is_cancelled: bool = False


@dataclass
class Answer:
    """A feedback."""

    rating: int
    sale: Sale | None = None
    is_test: bool = False
    is_deleted: bool = False
    is_anonymized: bool = False

    @property
    def is_visible(self) -> bool:
        return not self.is_test and not self.is_deleted


class PartnerModel(RuleBasedStateMachine):
    """A partner of a shop with one store and one survey, and what the partner must see."""

    def __init__(self) -> None:
        super().__init__()
        clear_caches()
        _time.ahead = timedelta()
        _provider.sent.clear()
        _receiver.requests.clear()
        self.shop = open_shop(_provider, _time)
        self.shop.survey(
            sendingChannels=["EMAIL"],
            resolicitationDelay=0,
            publiclyAvailable=True,
            fields=[question("nps", "NPS", id=NPS)],
        )
        self.account = self.shop.account_id
        partner = with_permissions(Partner(_client, self.account), *Permission)
        self.own = Reporter(self.shop, partner)
        workflow = add_workflow(self.account)
        self.action = {"workflowId": workflow.id, "actionId": workflow.actions[0].id}
        self.people = [Person(f"{name}@example.test") for name in ("ana", "lou", "zoe")]
        self.sales: list[Sale] = []
        self.answers: dict[str, Answer] = {}
        self.tests = 0
        self.cursor: str | None = None
        self.mirror: dict[str, Any] = {}
        self.consents_cursor: str | None = None
        self.consents: dict[str, Any] = {}
        self.set_receiver(fails=False)

    def _post(self, path: str, **body: Any) -> Any:
        """Send a request that succeeds, a second later, and return the JSON of the response."""
        _time.ahead += timedelta(seconds=1)
        response = self.own.post(path, **body)
        assert response.status == 201, response.body
        return response.json

    # --- the partner

    @rule()
    def replace_expiring_key(self) -> None:
        ends_at = clock.now() + timedelta(hours=1)
        expiring = with_permissions(self.own.partner, *Permission, ends_at=ends_at)
        account = expiring.get("/partners/account").json
        assert account["expiresAt"] == format_timestamp(ends_at)
        assert account["lastUsedAt"] == f"{clock.now():%Y-%m-%d}T00:00:00.000Z"
        _time.ahead += timedelta(hours=1)
        assert expiring.get("/partners/account").status == 401

    @rule(person=PEOPLE, hours=st.sampled_from([0, 0, 12]))
    def report(self, person: int, hours: int) -> None:
        buyer = self.people[person]
        body = self.shop.definition(customer={"email": buyer.address, "emailOptin": True})
        send_at = clock.now() + timedelta(hours=hours)
        if hours:
            body["sendAt"] = format_timestamp(send_at)
        purchase = self._post("purchase", **body)
        customer = next(iter(buyer.customers), purchase["customer"]["id"])
        buyer.customers.setdefault(customer, False)
        buyer.customers[customer] |= not buyer.suppressed
        self.sales.append(Sale(body, purchase["id"], buyer, customer, send_at))

    @rule(person=PEOPLE, has_consent=st.booleans())
    def preview(self, person: int, has_consent: bool) -> None:
        buyer = self.people[person]
        customer = {"email": buyer.address, "emailOptin": has_consent}
        shown = self._post("purchase/preview", **self.shop.definition(customer=customer))
        accepts = has_consent or buyer.customers.get(next(iter(buyer.customers), ""))
        reason = "SUPPRESSED" if buyer.suppressed else None if accepts else "NO_CONSENT"
        state, channel = ("SKIPPED", None) if reason else ("PENDING", "EMAIL")
        assert (shown["state"], shown["channel"], shown["reason"]) == (state, channel, reason)

    @precondition(lambda self: self.sales)
    @rule(number=NUMBERS)
    def report_again(self, number: int) -> None:
        sale = self._sale(number)
        if sale.customer:
            purchase = self._post("purchase", **sale.body)
            assert (purchase["id"], purchase["customer"]["id"]) == (sale.id, sale.customer)

    @rule(person=PEOPLE)
    def create_customer(self, person: int) -> None:
        owner, key = self.people[person], {"Idempotency-Key": new_id()}
        _time.ahead += timedelta(seconds=1)
        for _ in range(2):
            created = self.own.partner.post("/partners/customer", {"email": owner.address}, key)
            owner.customers.setdefault(created.json["id"], False)

    @rule(person=PEOPLE)
    def opt_out(self, person: int) -> None:
        self._post("customer/opt-out", email=self.people[person].address, channels=["EMAIL"])
        self.people[person].opt_out()

    @rule(person=PEOPLE)
    def unsubscribe(self, person: int) -> None:
        owner = self.people[person]
        _time.ahead += timedelta(seconds=1)
        self.shop.suppress(owner.address, SuppressionReason.UNSUBSCRIBED)
        owner.opt_out()
        owner.reason = "UNSUBSCRIBED"
        owner.listed |= owner.customers.keys()

    @rule(limit=st.sampled_from([1, 100]))
    def read_consents(self, limit: int) -> None:
        self.consents_cursor = self._copy_consents(self.consents, self.consents_cursor, limit)

    def _copy_consents(self, copy: dict[str, Any], cursor: str | None, limit: int) -> str:
        while True:
            page = self._post("consent/list", limit=limit, cursor=cursor)
            for item in page["items"]:
                copy[item["customerId"]] = item
                if item["removed"]:
                    del copy[item["customerId"]]
            cursor = page["meta"]["cursor"]
            if not page["meta"]["hasMore"]:
                return str(cursor)

    @rule(person=PEOPLE, number=NUMBERS, is_on=st.booleans())
    def patch_opt_in(self, person: int, number: int, is_on: bool) -> None:
        owner = self.people[person]
        if not owner.customers:
            return
        customer = list(owner.customers)[number % len(owner.customers)]
        _time.ahead += timedelta(seconds=1)
        path = f"/partners/customer?id={customer}"
        changed = self.own.partner.patch(path, {"emailOptin": is_on})
        assert changed.status == 200
        if is_on and owner.reason in (None, "OPTED_OUT"):
            owner.reason = None
            owner.customers[customer] = True
        elif is_on:
            owner.customers[customer] = False
        elif owner.customers[customer] or not owner.suppressed:
            owner.opt_out()

    @precondition(lambda self: self.sales)
    @rule(number=NUMBERS)
    def cancel(self, number: int) -> None:
        sale = self._sale(number)
        tracker = self._post("purchase/cancel", id=sale.id)
        sale.is_cancelled = True
        if sale.state == "PENDING":
            sale.state, sale.reason = "SKIPPED", "CANCELLED"
        assert (tracker["state"], tracker["channel"]) == (sale.state, sale.channel)

    @precondition(lambda self: self.sales)
    @rule(number=NUMBERS)
    def link(self, number: int) -> None:
        sale = self._sale(number)
        is_due = sale.state == "PENDING" and sale.send_at <= clock.now()
        is_possible = not (sale.is_cancelled or sale.person.is_erased)
        if is_possible and (is_due or sale.reason in _LINKABLE):
            sale.state, sale.reason, sale.channel = "SENT", None, "LINK"
        if sale.channel == "LINK":
            assert self._post("survey-tracker", purchaseId=sale.id)["channel"] == "LINK"
        else:
            self.own.no_link({"id": sale.id})

    @rule(person=PEOPLE, number=NUMBERS)
    def erase(self, person: int, number: int) -> None:
        erased = self.people[person]
        if not erased.customers:
            return
        customer = list(erased.customers)[number % len(erased.customers)]
        self._post("customer/erase", id=customer)
        ERASURE_QUEUE.deliver_all(self.account)
        del erased.customers[customer]
        # Dispatch turns the opt-ins of other customers with the address off.
        erased.reason = "ERASED"
        erased.listed.discard(customer)
        for sale in self.sales:
            if sale.customer == customer:
                sale.customer = None
                if sale.state == "PENDING":
                    sale.state, sale.reason = "SKIPPED", "ERASED"
                if sale.feedback:
                    self.answers[sale.feedback].is_anonymized = True

    @rule()
    def replay(self) -> None:
        self.set_receiver(fails=False)
        self._post(
            "webhook-delivery/replay",
            state="PENDING",
            createdSince=format_timestamp(clock.now() - timedelta(days=80)),
        )
        self._deliver_webhooks()
        assert {item["state"] for item in self._all("webhook-delivery")} <= {"SUCCEEDED"}

    @precondition(lambda self: self.tests < 5)
    @rule()
    def send_test_webhook(self) -> None:
        delivery = self._post("webhook-delivery/test", **self.action)
        assert delivery["feedbackId"] == TEST_FEEDBACK_ID
        self.tests += 1
        self.set_receiver(fails=False)
        self._deliver_webhooks()

    @rule(limit=st.sampled_from([1, 100]))
    def read_feed(self, limit: int) -> None:
        has_more = True
        while has_more:
            position = {"cursor": self.cursor} if self.cursor else {}
            page = self._post("feedback/list", limit=limit, **position)
            self.mirror |= {item["id"]: item for item in page["items"]}
            for removed in page["removed"]:
                self.mirror.pop(removed["id"], None)
            self.cursor, has_more = page["meta"]["cursor"], page["meta"]["hasMore"]

    # --- respondents, operators, the receiver and the service

    @precondition(lambda self: self.sales)
    @rule(number=NUMBERS, rating=st.integers(0, 10))
    def answer_survey(self, number: int, rating: int) -> None:
        sale = self._sale(number)
        if sale.state != "SENT" or sale.feedback or not sale.customer:
            return
        if sale.channel == "LINK":
            code = self._post("survey-tracker", purchaseId=sale.id)["link"].rpartition("/")[2]
            tracker = str(UUID(bytes=urlsafe_b64decode(code + "==")))
        else:
            (tracker,) = (m.tracker_id for m in _provider.sent if m.purchase.id == sale.id)
        sale.feedback = self._submit(rating, tracker=tracker)
        self.answers[sale.feedback].sale = sale

    @rule(rating=st.integers(0, 10))
    def answer_public_survey(self, rating: int) -> None:
        self._submit(rating)

    def _submit(self, rating: int, **tracker: str) -> str:
        fields = [{"id": NPS, "values": [str(rating)]}]
        body = parse({"id": self.shop.survey_id, "fields": fields, **tracker}, SurveySubmission)
        feedback_id = submit_feedback(body, SubmissionMetadata()).id
        process_feedback([feedback_id])
        self.answers[feedback_id] = Answer(rating)
        return feedback_id

    @precondition(lambda self: self.answers)
    @rule(number=NUMBERS, change=st.sampled_from(["test", "no test", "delete"]))
    def change_feedback(self, number: int, change: str) -> None:
        feedback_id, answer = list(self.answers.items())[number % len(self.answers)]
        if answer.is_deleted:
            return
        if change == "delete":
            delete_feedback(feedback_id, "operator")
            answer.is_deleted = True
        else:
            answer.is_test = change == "test"
            mark_test(feedback_id, is_test=answer.is_test)

    @rule(fails=st.booleans())
    def set_receiver(self, fails: bool) -> None:
        _receiver.responses = [response_with(503 if fails else 200)] * 100

    @rule(hours=st.sampled_from([1, 26]))
    def work(self, hours: int) -> None:
        self.shop.advance(timedelta(hours=hours))
        for sale in self.sales:
            if sale.state == "PENDING" and sale.send_at <= clock.now():
                accepts = sale.customer and sale.person.customers[sale.customer]
                if accepts and not sale.person.suppressed:
                    sale.state, sale.channel = "SENT", "EMAIL"
                else:
                    sale.state, sale.reason = "SKIPPED", sale.person.skip_reason
                    if sale.customer and sale.person.suppressed:
                        if accepts and sale.person.reason != "OPTED_OUT":
                            sale.person.listed.add(sale.customer)
                        sale.person.customers[sale.customer] = False
        sweep(WEBHOOKS)
        self._deliver_webhooks()

    def _deliver_webhooks(self) -> None:
        if bodies := WEBHOOK_QUEUE.queued_messages(self.account):
            assert WEBHOOK_QUEUE.deliver(bodies) == []

    # --- what the partner must see

    def teardown(self) -> None:
        self.work(26)
        self.read_feed(100)
        self._check_feedback()
        self._check_surveys()
        self._check_customers()
        self._check_consents()
        self._check_deliveries()

    def _check_feedback(self) -> None:
        visible = {i: answer for i, answer in self.answers.items() if answer.is_visible}
        assert {i: (item["rating"], item["anonymized"]) for i, item in self.mirror.items()} == {
            i: (answer.rating, answer.is_anonymized) for i, answer in visible.items()
        }
        for i, item in self.mirror.items():
            assert item == self.own.partner.get(f"/partners/feedback?id={i}").json
            sale = visible[i].sale
            assert item["customerId"] == (sale and sale.customer)
        days = [f"{clock.now() + timedelta(days=days):%F}" for days in (-300, 50)]
        (numbers,) = self._post("statistics", since=days[0], until=days[1], interval="NONE")[
            "items"
        ]
        ratings = Counter(answer.rating for answer in visible.values())
        assert numbers["ratingCounts"] == [ratings[rating] for rating in range(11)]
        assert numbers["feedbackCount"] == len(visible)
        assert numbers["surveysSent"] == sum(sale.state == "SENT" for sale in self.sales)
        assert numbers["surveysAnswered"] == sum(bool(a.sale) for a in visible.values())

    def _check_surveys(self) -> None:
        shown = [
            (t["purchaseId"], t["state"], t["reason"], t["channel"], t["customerId"])
            for t in self._all("survey-tracker")
        ]
        assert shown == [(s.id, s.state, s.reason, s.channel, s.customer) for s in self.sales]
        mailed = [sale.id for sale in self.sales if sale.channel == "EMAIL"]
        assert sorted(message.purchase.id for message in _provider.sent) == sorted(mailed)
        assert [purchase["id"] for purchase in self._all("purchase")] == [s.id for s in self.sales]

    def _check_customers(self) -> None:
        for person in self.people:
            found = self._post("customer/find", email=person.address)["items"]
            assert {c["id"]: c["emailOptin"] for c in found} == person.customers
            assert [c["id"] for c in found] == list(person.customers)

    def _check_consents(self) -> None:
        self.read_consents(100)
        new: dict[str, Any] = {}
        self._copy_consents(new, None, 7)
        listed = {customer: person for person in self.people for customer in person.listed}
        assert self.consents.keys() == new.keys() == listed.keys()
        for customer, person in listed.items():
            (shown,), (copied,) = (each[customer]["addresses"] for each in (new, self.consents))
            assert (shown["address"], shown["reason"]) == (person.address, person.shown_reason)
            assert copied == shown or person.is_erased
        for person in self.people:
            found = self._post("consent/find", email=person.address)
            reason = None if any(person.customers.values()) else "NO_CONSENT"
            assert found["reason"] == (person.shown_reason or reason)
            assert found["canSend"] is (found["reason"] is None)

    def _check_deliveries(self) -> None:
        shown = {item["id"]: item for item in self._all("webhook-delivery")}
        about = Counter(item["feedbackId"] for item in shown.values())
        assert about == Counter([*self.answers, *[TEST_FEEDBACK_ID] * self.tests])
        attempts = Counter(request.execution_id for request in _receiver.requests)
        delivered = Counter(r.execution_id for r in _receiver.requests if r.status == 200)
        assert set(delivered.values()) <= {1}
        for i, item in shown.items():
            assert item["attemptCount"] == attempts[i]
            assert (item["state"] == "SUCCEEDED") == bool(delivered[i])

    def _sale(self, number: int) -> Sale:
        return self.sales[number % len(self.sales)]

    def _all(self, path: str) -> list[dict[str, Any]]:
        """Return the items of all pages of a list."""
        items, page = [], self._post(f"{path}/list", limit=100)
        while True:
            items += page["items"]
            if not page["meta"]["cursor"]:
                return items
            page = self._post(f"{path}/list", limit=100, cursor=page["meta"]["cursor"])


def test_api_shows_what_the_model_predicts(
    client: Client, time: Time, provider: Provider, receiver: Receiver
) -> None:
    global _client, _time, _provider, _receiver
    _client, _time, _provider, _receiver = client, time, provider, receiver
    run_state_machine_as_test(
        PartnerModel,
        settings=settings(
            max_examples=12,
            stateful_step_count=30,
            # Shrinking takes minutes.
            phases=(Phase.explicit, Phase.generate),
        ),
    )
