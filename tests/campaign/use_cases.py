"""A shop in which every use case has work, and the use cases that write.

A use case is one call of the service: a request, an operator's command, or a function with the
messages that were in its queue when the shop was complete.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest
from botocore.exceptions import ReadTimeoutError

from admin.services.accounts.manage import issue_key
from admin.services.accounts.settings import change_account_settings
from admin.services.close_account import disable
from admin.services.customers.save import change_tags, save_customer
from admin.services.definitions.kinds import CONTACT_FORM, STORE, WORKFLOW, save
from admin.services.feedback.exclude import delete_feedback, mark_test
from admin.services.feedback.republish import republish_feedback
from admin.services.forms.manage import set_form_enabled
from admin.services.recount.recount import recount
from admin.services.solicitation.manage import load_unknown, resend
from admin.services.solicitation.suppressions import lift_suppression
from admin.services.webhooks.secret import rotate_webhook_secret
from admin.services.work import parked
from admin.services.workflows.manage import set_workflow_enabled
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.listing import ListingPointer
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.erasure.erasure import ErasurePointer
from chalicelib.domain.feedback.feedback import FeedbackPointer, FormKind, feedback_id_of
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.domain.solicitation.solicitation import SolicitationPointer, reminder_id
from chalicelib.domain.solicitation.tokens import UnsubscribeToken
from chalicelib.domain.work import MAX_CLAIMS, PENDING
from chalicelib.messages import encode
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.queues import IMPORTS, SOLICITATIONS, WEBHOOKS
from chalicelib.services.customers.accept_batch import accept_batch
from chalicelib.services.customers.assign_positions import assign_positions
from chalicelib.services.customers.change import change_customer
from chalicelib.services.customers.create import create_customer
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback.retention import anonymize_old_feedback
from chalicelib.services.feedback.save_taps import save_taps
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    submit_feedback,
)
from chalicelib.services.forms.cached_forms import Respondent
from chalicelib.services.solicitation.link_survey import link_survey
from chalicelib.services.solicitation.suppressions import opt_out, unsubscribe
from chalicelib.services.solicitation.survey_trackers import cancel_survey
from chalicelib.services.webhooks import send as webhooks
from chalicelib.services.webhooks.deliveries import replay_executions
from chalicelib.services.work.kinds import kind_of_work
from chalicelib.services.work.sweep import sweep
from chalicelib.settings import settings
from chalicelib.storage import contacts, counters, feedback, suppressions
from chalicelib.storage.contacts import ContactPointer
from chalicelib.storage.counters import Listed
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.stage_values import stage_secret
from chalicelib.web.partner.batch_body import validate_batch
from tests.aws.requests import Request
from tests.aws.tables import Tables
from tests.campaign.campaign import queues
from tests.campaign.simulation import LOCKED, NO_FAULTS, START, Message, Simulation, installed
from tests.campaign.world import Person, World
from tests.domain.forms.factories import contact_form
from tests.domain.forms.factories import field as form_field
from tests.domain.workflows.factories import workflow_definition
from tests.services.purchases import record_purchase
from tests.web.definitions import store_definition

_OPERATOR: Final = "operator"
_SITE: Final = DataSource("Site")
_REQUEST_S: Final = 0.01
ROUNDED_S: Final = 600
"""The unit of time in which results are compared."""

_TIME_OF_SHOP_S: Final = 2 * 86_400


class Stage(Simulation):
    """A simulated AWS account without faults and without chance, in which requests take 10 ms.

    Attributes:
        before: called before each request.
        times_out: whether a provider does not respond to a message.
    """

    def __init__(self) -> None:
        super().__init__(0, NO_FAULTS, queues)
        self.tables = Tables("test", lambda: self.now)
        self.before: Callable[[], object] = lambda: None
        self.times_out = False

    def request(self, request: Request) -> Any:
        """Respond to an AWS request of the service."""
        if request.operation in LOCKED:
            return self._respond(request.operation, request.arguments)
        self.number += 1
        self.now += _REQUEST_S
        self.before()
        if request.operation not in ("SendRawEmail", "Publish"):
            return self._respond(request.operation, request.arguments)
        mail = self._receive_mail(None, request.operation, request.arguments, is_known=True)
        if self.times_out:
            raise ReadTimeoutError(endpoint_url="x")
        return {"MessageId": mail.message_id}

    def run(self, queue: str, messages: Sequence[Message], receive_count: int = 1) -> None:
        """Run the function of a queue with messages."""
        received = {message.id: receive_count for message in messages}
        self._invoke(self.queues[queue], [*messages], received, None)

    def message(self, body: str) -> Message:
        """Return a message that is in no queue."""
        return Message(body, body, "", self.now, self.now)


class Shop(World):
    """An account in which every use case has work.

    Attributes:
        ann: has bought four times: the first survey is answered, the second sent, one is tapped,
            and the third is due.
        ben: is not a customer yet.
        cat: has a survey whose outcome is unknown, and a second, younger record.
        dan: is being erased, and has no position yet.
        eve: has opted out, and one of her three records is not changed yet.
        second_cat: the id of this record.
        posts: the ids of the webhooks that were received.
        received: the messages that were in each queue when the shop was complete.
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage, has_accidents=False)
        stage.on_send = lambda _: None
        self.stage, self.account = stage, self.accounts[0]
        self.account_id = self.account.id
        self.customers: dict[Person, str] = {}
        self.trackers: dict[str, str] = {}
        self.feedback: dict[str, str] = {}
        self.posts: list[str] = []
        self.ann, self.ben, self.cat, self.dan, self.eve = self.account.people
        change_account_settings(self.account_id, {"retentionDays": 1}, _OPERATOR)
        issue_key(self.account_id, _OPERATOR)
        self._buy_and_answer()
        stage.now += _TIME_OF_SHOP_S
        self._buy_again()
        stage.now += _TIME_OF_SHOP_S
        self._send(tapped=self.ann)
        stage.now += _TIME_OF_SHOP_S
        self._leave_work()
        store_id = self.account.store_id
        self.received = {name: [*queue.messages] for name, queue in stage.queues.items()}
        self.executions = [key for key, _ in stage.tables.rows("executions")]
        places = stage.tables.rows("places")
        self.brand_id = next(i for (a, i) in places if a == self.account_id and i != store_id)
        workflows = stage.tables.rows("workflows")
        (self.workflow_id,) = (i for (a, i) in workflows if a == self.account_id)
        self.new_id = self._id()

    def _buy_and_answer(self) -> None:
        self._send(first=self.ann)
        self.feedback["first"] = self.answer("first")
        self._run_all("feedback")

    def _buy_again(self) -> None:
        self.stage.times_out = True
        self._send(unknown=self.cat)
        self.stage.times_out = False
        self.second_cat = self._id()
        self.save(self.cat, id=self.second_cat, phoneNumber=self.cat.phone, emailOptin=False)
        counters.reserve(self.account_id, Listed.CUSTOMERS, clock.now())
        self._send(second=self.ann, dans=self.dan)
        self.answer("dans")
        self._run_all("feedback")

    def _leave_work(self) -> None:
        """Leave work of each kind in the queues."""
        self.tap("tapped", "8")
        self.feedback["parked"] = self.submit("parked", self.cat)
        for _ in range(MAX_CLAIMS):
            feedback.WORK.record_failure(self.feedback["parked"], feedback.PART, "x", clock.now())
        self.stage.queues["feedback"].messages.clear()
        self.buy("third", self.ann)
        self.submit("of ann", self.ann)
        self.submit("of ben", self.ben)
        self.send_batch("batch")
        for phone in ("+33612345678", "+33612345679", "+33612345670"):
            self.save(self.eve, id=self._id(), phoneNumber=phone)
        opt_out(self.account_id, parse({"email": self.eve.address}, OptOut))
        contact_hash = email_hash(self.account_id, self.eve.address)
        pointer = ContactPointer(self.account_id, contacts.contact_key(str(contact_hash)))
        self.stage.send("suppressions", encode(pointer))
        opt_out(self.account_id, parse({"phoneNumber": self.ann.phone}, OptOut))
        erasure = start_erasure(self.account_id, self.customers[self.dan], _OPERATOR)
        self.stage.send("erasures", encode(erasure.pointer))
        self.stage.now += ROUNDED_S - self.stage.now % ROUNDED_S + 1

    def _send(self, **purchases: Person) -> None:
        """Record purchases and send their surveys."""
        tables = self.stage.tables
        for external_id, person in purchases.items():
            self.buy(external_id, person)
            row = tables.rows("purchases")[(account_key(self.account_id, self.id_of(external_id)),)]
            self.customers[person] = row["customer_id"]["S"]
        self._run_all("solicitations")
        for external_id in purchases:
            row = tables.rows("solicitations")[(self.id_of(external_id),)]
            self.trackers[external_id] = row["tracker_id"]["S"]

    def _run_all(self, queue: str) -> None:
        self.stage.run(queue, self.stage.queues[queue].messages)

    # The parts of use cases

    def work(self, queue: str, text: str = "", receive_count: int = 1) -> None:
        """Run the function of a queue with the received messages that contain a text."""
        messages = [each for each in self.received[queue] if text in each.body]
        assert messages
        self.stage.run(queue, messages, receive_count)

    def buy(self, external_id: str, person: Person, **fields: Any) -> None:
        """Record a purchase, or a new version of it."""
        definition = {
            "source": "Site",
            "externalId": external_id,
            "storeId": self.account.store_id,
            "date": format_timestamp(START),
            "customer": {
                "email": person.address,
                "phoneNumber": person.phone,
                "emailOptin": True,
            },
        }
        record_purchase(self.account_id, definition | fields, solicit=True)

    def submit(self, key: str, person: Person) -> str:
        """Submit the contact form with an idempotency key. Return the id of the feedback."""
        values = {"note": key, "mail": person.address, "phone": person.phone, "nps": "7"}
        body = {"id": self.account.form_id, "fields": self._answers(self.account, values)}
        return submit_feedback(parse(body, ContactFormSubmission), _metadata(key)).id

    def answer(self, purchase: str, key: str = "") -> str:
        """Answer the survey about a purchase. Return the id of the feedback."""
        body = {
            "id": self.account.survey_id,
            "tracker": self.trackers[purchase],
            "fields": self._answers(self.account, {"note": key, "nps": "9"}),
        }
        return submit_feedback(parse(body, SurveySubmission), _metadata(key or purchase)).id

    def tap(self, purchase: str, value: str) -> None:
        """Tap a rating on the page of the survey about a purchase, or remove it if it is empty."""
        body = {
            "id": self.account.survey_id,
            "tracker": self.trackers[purchase],
            "step": "save",
            "fields": self._answers(self.account, {"nps": value} if value else {}),
        }
        save_taps(parse(body, SurveySubmission), _metadata(value))

    def end_taps(self) -> None:
        """Run the function that processes feedback for the saved tap, as the sweeper requests."""
        pointer = FeedbackPointer(self.account_id, feedback_id_of(self.trackers["tapped"]))
        self.stage.run("feedback", [self.stage.message(encode(pointer))])

    def remind(self) -> None:
        """Run the function that sends surveys for the reminder of the second one."""
        reminder = reminder_id(self.id_of("second"))
        pointer = SolicitationPointer(self.account_id, reminder, self.customers[self.ann])
        self.stage.run("solicitations", [self.stage.message(encode(pointer))])

    def send_batch(self, key: str) -> None:
        """Send a batch with a new customer, with Ben, and with a new field of Ann."""
        rows = [
            {"email": "new@example.test"},
            {"email": self.ben.address, "phoneNumber": self.ben.phone, "emailOptin": True},
            {"email": self.ann.address, "phoneNumber": self.ann.phone, "company": "Lumen"},
        ]
        accept_batch(self.account_id, validate_batch({"batch": rows}, partial=False), key)

    def save(self, person: Person, **fields: Any) -> None:
        """Load the definition of a customer."""
        save_customer(self.account_id, {"email": person.address, "emailOptin": True, **fields})

    def create(self, key: str, person: Person | None = None, **fields: Any) -> None:
        """Create a customer with an idempotency key."""
        body: dict[str, Any] = {"email": f"{key}@example.test"}
        if person:
            body = {"email": person.address, "phoneNumber": person.phone, **fields}
        create_customer(self.account_id, parse(body, CustomerBody), key)

    def patch(self, person: Person, **fields: Any) -> None:
        """Change a customer."""
        patch = parse(fields, CustomerPatch)
        change_customer(self.account_id, self.customers[person], patch)

    def give_pair(self, customer_id: str, person: Person) -> None:
        """Give a customer the addresses of another person."""
        body = {"email": person.address, "phoneNumber": person.phone}
        change_customer(self.account_id, customer_id, parse(body, CustomerPatch))

    def bounce(self) -> None:
        """Process the permanent bounce of the second survey."""
        mail = next(m for m in self.stage.mails if m.tracker_id == self.trackers["second"])
        headers = [{"name": name, "value": value} for name, value in mail.headers]
        body = {
            "notificationType": "Bounce",
            "mail": {"messageId": mail.message_id, "headersTruncated": False, "headers": headers},
            "bounce": {
                "bounceType": "Permanent",
                "bouncedRecipients": [{"emailAddress": mail.to}],
            },
        }
        self.stage.run("message-events", [self.stage.message(json.dumps(body))])

    def unsubscribe_ann(self) -> None:
        """Follow the link for unsubscribing in an e-mail to Ann."""
        contact_hash = email_hash(self.account_id, self.ann.address)
        assert contact_hash
        sent = (self.account.survey_id, self.account.store_id)
        token = UnsubscribeToken(self.account_id, contact_hash, Channel.EMAIL, *sent)
        unsubscribe(token.signed(stage_secret()))

    def erase_ann(self) -> None:
        """Erase Ann, and wait for the end of the first pass."""
        erasure = start_erasure(self.account_id, self.customers[self.ann], _OPERATOR)
        continue_erasure(erasure.pointer)

    def settle(self) -> None:
        """Finish the work that continues later: list customers, end erasures, and import."""
        assign_positions(ListingPointer(self.account_id, 0))
        pending = [
            ErasurePointer(self.account_id, key)
            for (key,), row in self.stage.tables.rows("erasures").items()
            if row["state"]["S"] == PENDING
        ]
        for pointer in pending * 2:
            self.stage.now += settings().erasure_recheck_s
            continue_erasure(pointer)
        sweep(kind_of_work(IMPORTS))
        self._run_all("imports.fifo")

    def post(
        self, url: str, headers: dict[str, str], body: bytes, *, allow_private: bool
    ) -> WebhookResponse:
        """Receive a webhook, as `post` of the service."""
        self.posts.append(headers["X-Service-Webhook-Id"])
        return WebhookResponse(12, was_sent=True, status=200)

    def load_form(self, form_id: str, **fields: Any) -> None:
        """Load the definition of a contact form."""
        field = form_field("note", "LONG_TEXT", id=self.account.field_ids["note"])
        form = contact_form(id=form_id, brandId=self.brand_id, fields=[field], **fields)
        save(CONTACT_FORM, self.account_id, form)

    def load_store(self, **fields: Any) -> None:
        """Load the definition of a store."""
        save(STORE, self.account_id, store_definition(self.brand_id, **fields))

    def load_workflow(self, **fields: Any) -> None:
        """Load the definition of a workflow."""
        save(WORKFLOW, self.account_id, workflow_definition(**fields))

    def id_of(self, external_id: str) -> str:
        """Return the id of a purchase."""
        return purchase_id(self.account_id, _SITE, external_id)


def _metadata(key: str) -> SubmissionMetadata:
    return SubmissionMetadata(Respondent(address="203.0.113.7"), idempotency_key=key)


@contextmanager
def open_shop() -> Iterator[Shop]:
    """Build the shop, and let the service use it in the ``with`` block."""
    stage = Stage()
    with installed(stage), pytest.MonkeyPatch.context() as patch:
        patch.setattr(suppressions, "_MAX_CUSTOMERS", 1)
        shop = Shop(stage)
        patch.setattr(webhooks, "post", shop.post)
        yield shop


UseCase = Callable[[Shop], object]

USE_CASES: Final[dict[str, UseCase]] = {
    "record": lambda shop: shop.buy("third", shop.ann, metadata={"note": "changed"}),
    "record new": lambda shop: shop.buy("fourth", shop.ben),
    "move": lambda shop: shop.buy("third", shop.cat),
    "repeat purchase": lambda shop: shop.buy("third", shop.ann),
    "cancel": lambda shop: cancel_survey(shop.account_id, shop.id_of("third")),
    "link": lambda shop: link_survey(shop.account_id, shop.id_of("third")),
    "send": lambda shop: shop.work("solicitations", shop.id_of("third")),
    "resend": lambda shop: resend(load_unknown(shop.account_id, _SITE, "unknown")),
    "remind": lambda shop: shop.remind(),
    "answer": lambda shop: shop.answer("second"),
    "answer otherwise": lambda shop: shop.answer("second", "otherwise"),
    "tap": lambda shop: shop.tap("second", "8"),
    "tap again": lambda shop: shop.tap("tapped", "3"),
    "remove tap": lambda shop: shop.tap("tapped", ""),
    "end taps": lambda shop: shop.end_taps(),
    "answer tapped": lambda shop: shop.answer("tapped"),
    "submit": lambda shop: shop.submit("another", shop.ann),
    "process": lambda shop: shop.work("feedback"),
    "mark": lambda shop: mark_test(shop.feedback["first"], is_test=True),
    "delete": lambda shop: delete_feedback(shop.feedback["first"], _OPERATOR),
    "retain": lambda shop: anonymize_old_feedback(),
    "deliver": lambda shop: shop.work("webhooks"),
    "replay": lambda shop: replay_executions(shop.executions, shop.account_id),
    "unpark": lambda shop: parked.replay(shop.feedback["parked"]),
    "unsubscribe": lambda shop: shop.unsubscribe_ann(),
    "opt out": lambda shop: opt_out(shop.account_id, parse({"email": shop.ann.address}, OptOut)),
    "bounce": lambda shop: shop.bounce(),
    "lift": lambda shop: lift_suppression(shop.account_id, Channel.SMS, shop.ann.phone, _OPERATOR),
    "change others": lambda shop: shop.work("suppressions"),
    "create": lambda shop: shop.create("another"),
    "create Ben": lambda shop: shop.create("ben", shop.ben, emailOptin=True),
    "create Ann": lambda shop: shop.create("ann", shop.ann),
    "patch": lambda shop: shop.patch(shop.ann, firstName="Ann"),
    "name company": lambda shop: shop.patch(shop.ann, company="Other"),
    "opt in": lambda shop: shop.patch(shop.ann, smsOptin=True),
    "revoke": lambda shop: shop.patch(shop.ann, emailOptin=False),
    "change address": lambda shop: shop.patch(shop.ann, email="moved@example.test"),
    "take free pair": lambda shop: shop.give_pair(shop.customers[shop.cat], shop.ben),
    "leave pair": lambda shop: shop.give_pair(shop.second_cat, shop.ben),
    "join pair": lambda shop: shop.give_pair(shop.second_cat, shop.ann),
    "take pair": lambda shop: shop.give_pair(shop.customers[shop.ann], shop.cat),
    "load customer": lambda shop: shop.save(
        shop.ann, id=shop.customers[shop.ann], phoneNumber=shop.ann.phone, firstName="Loaded"
    ),
    "tag": lambda shop: change_tags(shop.account_id, shop.customers[shop.ann], add=["vip"]),
    "import": lambda shop: shop.work("imports.fifo"),
    "send batch": lambda shop: shop.send_batch("batch 2"),
    "assign positions": lambda shop: shop.work("listing.fifo"),
    "erase": lambda shop: start_erasure(shop.account_id, shop.customers[shop.ann], _OPERATOR),
    "erase wholly": lambda shop: shop.erase_ann(),
    "continue erasure": lambda shop: shop.work("erasures"),
    "rotate": lambda shop: rotate_webhook_secret(shop.account_id, _OPERATOR),
    "change settings": lambda shop: change_account_settings(
        shop.account_id, {"name": "Renamed"}, _OPERATOR
    ),
    "load store": lambda shop: shop.load_store(id=shop.account.store_id, name="New"),
    "disable form": lambda shop: set_form_enabled(
        FormKind.SURVEY, shop.account.survey_id, is_enabled=False
    ),
    "disable contact form": lambda shop: set_form_enabled(
        FormKind.CONTACT_FORM, shop.account.form_id, is_enabled=False
    ),
    "load form": lambda shop: shop.load_form(shop.account.form_id, enabled=True),
    "load new form": lambda shop: shop.load_form(shop.new_id),
    "load new form otherwise": lambda shop: shop.load_form(shop.new_id, name="Other"),
    "load new store": lambda shop: shop.load_store(id=shop.new_id),
    "load new store otherwise": lambda shop: shop.load_store(id=shop.new_id, name="Other"),
    "disable workflow": lambda shop: set_workflow_enabled(
        shop.account_id, shop.workflow_id, enabled=False
    ),
    "load workflow": lambda shop: shop.load_workflow(id=shop.workflow_id, name="New"),
    "load new workflow": lambda shop: shop.load_workflow(id=shop.new_id),
    "load new workflow otherwise": lambda shop: shop.load_workflow(id=shop.new_id, name="Other"),
    "close": lambda shop: disable(shop.account_id, _OPERATOR),
    "sweep surveys": lambda _: sweep(kind_of_work(SOLICITATIONS)),
    "sweep webhooks": lambda _: sweep(kind_of_work(WEBHOOKS)),
    "recount": lambda shop: list(recount(shop.account_id, fix=True)),
    "republish": lambda shop: republish_feedback(shop.account_id),
}
"""The use cases that write, by name."""
