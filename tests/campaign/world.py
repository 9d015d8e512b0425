"""The partners, customers and operators of a campaign, and a record of what they did."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from greenlet import getcurrent

from admin.services.accounts.manage import create_account
from admin.services.accounts.settings import change_account_settings
from admin.services.customers.save import save_customer
from admin.services.definitions.kinds import BRAND, CONTACT_FORM, STORE, SURVEY, WORKFLOW, save
from admin.services.webhooks.secret import rotate_webhook_secret
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import Purchase, purchase_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.partner_view import SurveyTracker
from chalicelib.domain.solicitation.tokens import UnsubscribeToken
from chalicelib.outbound.webhook_http.connection import WebhookFailure
from chalicelib.outbound.webhook_http.exchange import WebhookResponse
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.accept_batch import accept_batch
from chalicelib.services.customers.create import create_customer
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback.save_taps import save_taps
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    submit_feedback,
)
from chalicelib.services.forms.cached_forms import Respondent
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.services.solicitation.link_survey import link_survey
from chalicelib.services.solicitation.suppressions import unsubscribe
from chalicelib.services.solicitation.survey_trackers import cancel_survey
from chalicelib.storage.erasures import erasure_id
from chalicelib.storage.stage_values import stage_secret
from chalicelib.time_limits import invocation as time_limits
from chalicelib.web.partner.batch_body import validate_batch
from tests.aws.faults import Killed
from tests.aws.tables import Item
from tests.campaign.simulation import NO_FAULTS, Invocation, Mail, Simulation
from tests.domain.forms import factories
from tests.domain.forms.factories import field as form_field
from tests.domain.workflows.factories import workflow_definition
from tests.services.purchases import record_purchase, report_purchase
from tests.web.definitions import brand_definition, store_definition

_MAX_SKEW_S: Final = 720
_SEND_AFTER: Final = timedelta(minutes=20)
_MUCH_LATER: Final = timedelta(hours=3)
REMINDER_DELAY_S: Final = 1_800
"""The time between a survey and its reminder. Definitions allow only longer times."""
_API_TIMEOUT_S: Final = 20.0
_PEOPLE: Final = 5
_RECENT: Final = 12
"""The number of purchases of which a partner sends further versions."""
NOT_PERSONAL: Final = ("executions",)
"""The tables that an erasure keeps."""

_WORD: Final = re.compile(r"Word\d+x")


@dataclass(frozen=True, eq=False)
class Person:
    """Somebody who buys, answers, unsubscribes and can be erased.

    All input about a person contains the same e-mail address, in one of its spellings. Most input
    contains the same phone number. Input with the other phone number is about another customer.
    """

    account: "Account"
    emails: tuple[str, ...]
    phone: str
    other_phone: str

    @property
    def address(self) -> str:
        """The spelling by which the record of the campaign names the person."""
        return self.emails[0]


@dataclass
class Account:
    """An account with a store, a survey, a contact form and a webhook."""

    number: int
    id: str
    store_id: str
    survey_id: str
    form_id: str
    field_ids: dict[str, str]
    delay_s: int
    people: list[Person] = field(default_factory=list)


@dataclass(frozen=True)
class Sent:
    """Input about a person. The token is a word in the input that occurs nowhere else.

    Attributes:
        ended_at: the number of the AWS request after which the service had the input.
        is_other: whether the input is about the customer with the other phone number.
    """

    person: Person
    token: str
    ended_at: int
    is_other: bool


@dataclass(frozen=True)
class RequestedErasure:
    """An erasure that the service accepted.

    Attributes:
        started_at: the number of the last AWS request before the erasure.
        stored: the words of processed input when the service had accepted the erasure.
    """

    person: Person
    customer_id: str
    started_at: int
    stored: frozenset[str]


@dataclass(frozen=True)
class Version:
    """A version of a purchase that a partner sent.

    Attributes:
        first, last: the earliest and the latest time at which the partner can have sent it.
        is_accepted: whether the service has it, for certain.
    """

    definition: dict[str, Any]
    first: float
    last: float
    is_accepted: bool = True

    @property
    def word(self) -> str:
        """The word that occurs in this version only."""
        return str(self.definition["metadata"]["note"])


@dataclass
class Record:
    """What happened, as the participants know it.

    Attributes:
        erased_people: the people whose erasure was requested, even if the service did not respond.
        banned: the number of the AWS request after which a channel of an address is suppressed.
        opted_out: the same for opt-outs by partners, which they can lift.
        versions: the versions of each purchase, by its id.
        send_at: the earliest time of the survey about a purchase, and the number of the AWS request
            after which the service knows it, by id of the purchase.
        ended: the number of the AWS request after which the survey about a purchase is cancelled,
            or replaced by a link, by id of the purchase.
        tapped: the trackers whose taps the service saved, or had no reason to save.
        bounced: the e-mails that bounced, each with whether the notification contains headers.
        violations: the rules that the service broke so far.
    """

    sent: list[Sent] = field(default_factory=list)
    erasures: list[RequestedErasure] = field(default_factory=list)
    erased_people: set[Person] = field(default_factory=set)
    banned: dict[tuple[str, str, str], int] = field(default_factory=dict)
    opted_out: dict[tuple[str, str, str], int] = field(default_factory=dict)
    versions: dict[str, list[Version]] = field(default_factory=dict)
    send_at: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    batches: list[tuple[str, str, int]] = field(default_factory=list)
    purchases: list[tuple[str, str]] = field(default_factory=list)
    submitted: list[str] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    tapped: set[str] = field(default_factory=set)
    posts: list[tuple[str, int | None]] = field(default_factory=list)
    bounced: list[tuple[Mail, bool]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


class World:
    """Everybody who uses the service during a campaign."""

    def __init__(self, simulation: Simulation, *, has_accidents: bool) -> None:
        self.simulation, self.random = simulation, simulation.random
        self.record = Record()
        self.has_accidents = has_accidents
        self.missing_forms: set[str] = set()
        self.killing: set[str] = set()
        self.words = self.person_count = 0
        self.open_words: dict[str, tuple[Person, bool]] = {}
        self.planned_erasures: list[tuple[Person, str]] = []
        self.checked_after_erasure: set[int] = set()
        self.person_at: dict[str, Person] = {}
        self.accounts = [self._open_account(number) for number in range(2)]
        self.external_ids: dict[str, list[str]] = {account.id: [] for account in self.accounts}
        self.used_keys: list[tuple[Account, str, Any]] = []
        self.links: list[tuple[Account, str]] = []
        self.reporting: Counter[str] = Counter()
        self.moved_surveys: set[str] = set()
        self.changing: Counter[str] = Counter()
        self.moving: set[str] = set()
        simulation.on_send = self._receive_mail
        simulation.after_request = self._react
        simulation.poison = self._kills

    def _open_account(self, number: int) -> Account:
        account_id = create_account("Maison Lumen", self._id()).id
        change_account_settings(account_id, {"defaultRegion": "FR"}, "operator")
        brand = save(BRAND, account_id, brand_definition(id=self._id()))
        store = save(STORE, account_id, store_definition(brand.id, id=self._id()))
        fields = {key: self._id() for key in ("note", "mail", "phone", "nps")}
        kinds = {"note": "LONG_TEXT", "mail": "EMAIL", "phone": "PHONE", "nps": "NPS"}
        questions = [form_field(key, kinds[key], id=fields[key]) for key in fields]
        account = Account(
            number,
            account_id,
            store.id,
            self._id(),
            self._id(),
            fields,
            delay_s=(3_600, 0)[number],
        )
        contact_form = {"id": account.form_id, "brandId": brand.id, "enabled": True}
        save(CONTACT_FORM, account_id, factories.contact_form(**contact_form, fields=questions))
        save(
            SURVEY,
            account_id,
            {
                "id": account.survey_id,
                "name": "After the visit",
                "language": "en",
                "enabled": True,
                "sendingChannels": (["EMAIL"], ["SMS", "EMAIL"])[number],
                "resolicitationDelay": account.delay_s,
                "solicitationDelay": (0, 600)[number],
                "reminderDelay": REMINDER_DELAY_S,
                "fields": questions,
                "targets": [{"type": "STORE", "targetId": store.id, "enabled": True}],
            },
        )
        rotate_webhook_secret(account_id, "operator")
        save(WORKFLOW, account_id, workflow_definition(id=self._id()))
        for _ in range(_PEOPLE):
            self._add_person(account)
        return account

    def _add_person(self, account: Account) -> Person:
        """Add a person whose addresses are new."""
        self.person_count += 1
        place, number = account.number, self.person_count
        emails = (f"person{number}@shop{place}.test",)
        if number % 3 == 0:
            emails = (f"zo{number}@xn--mnchen-3ya.de", f"Zo{number}@MÜNCHEN.de")
        phone, other_phone = (f"+336{kind}{place}34{number:03}8" for kind in (1, 2))
        person = Person(account, emails, phone, other_phone)
        account.people.append(person)
        for address in (*emails, phone, other_phone):
            self.person_at[_canonical(address)] = person
        return person

    # Actions

    def act(self) -> None:
        """Start a random action of a random participant."""
        if self.planned_erasures and self.random.random() < 0.5:
            self._erase(*self.planned_erasures.pop(0))
            return
        functions, weights = zip(*self.actions(), strict=True)
        self.random.choices(functions, weights)[0](self.random.choice(self.accounts))

    def actions(self) -> list[tuple[Callable[[Account], object], int]]:
        """Return the actions of participants, each with its weight."""
        return [
            (self.send_purchase, 10),
            (self.record_purchase, 3),
            (self.report_purchase, 6),
            (self.accept_batch, 6),
            (self.submit_form, 10),
            (self.answer_survey, 5),
            (self.tap, 5),
            (self.cancel_survey, 2),
            (self.link_survey, 2),
            (self.unsubscribe, 2),
            (self.revoke, 1),
            (self.create_customer, 6),
            (self.erase, 5),
            (self.accident, 1 if self.has_accidents else 0),
        ]

    def send_purchase(self, account: Account, person: Person | None = None) -> None:
        """Put a purchase into the queue."""
        person = person or self.random.choice(account.people)
        definition = self._version(person)
        self._end(definition["metadata"]["note"])
        body = json.dumps({"accountId": account.id, "purchase": definition})
        record_id = self._id_of(account, definition)
        self._forget_send_at(record_id, definition)
        now = self.simulation.now
        self.record.versions.setdefault(record_id, []).append(Version(definition, now, now))
        self.record.purchases.append((account.id, record_id))
        delay_s = self.random.choice([0, 0, 0, self.random.uniform(0, 3_600)])
        self.simulation.send("purchases", body, delay_s=delay_s)
        if self.random.random() < 0.3:
            self.send_purchase(account, person)

    def record_purchase(self, account: Account) -> None:
        """Import a purchase with the command line."""
        definition = self._version(self.random.choice(account.people))
        self._record_version(account, "import purchase", record_purchase, definition)

    def report_purchase(self, account: Account) -> None:
        """Report a purchase with a request."""
        definition = self._version(self.random.choice(account.people))
        self._record_version(account, "report purchase", report_purchase, definition)

    def _record_version(
        self,
        account: Account,
        name: str,
        record: Callable[..., Purchase],
        definition: dict[str, Any],
        on_done: Callable[[Purchase], object] = lambda _: None,
    ) -> Invocation:
        record_id = self._id_of(account, definition)
        self._forget_send_at(record_id, definition)

        def run(_: Invocation) -> None:
            first, purchase = self.simulation.now, None
            self.reporting[record_id] += 1
            try:
                purchase = record(account.id, definition, solicit=True)
            finally:
                self.reporting[record_id] -= 1
                # DynamoDB states the time in full seconds.
                version = Version(definition, first - 1, self.simulation.now + 1, bool(purchase))
                self.record.versions.setdefault(record_id, []).append(version)
            if purchase:
                self._learn_send_at(record_id, version)
                self.record.purchases.append((account.id, record_id))
                on_done(purchase)

        return self._start(name, run, definition["metadata"]["note"])

    def _forget_send_at(self, record_id: str, definition: dict[str, Any]) -> None:
        if "sendAt" in definition:
            self.record.send_at.pop(record_id, None)

    def _learn_send_at(self, record_id: str, version: Version) -> None:
        """Expect no survey before the time of this version, unless other versions are as new."""
        send_at = version.definition.get("sendAt")
        versions = self.record.versions[record_id]
        is_last = all(each is version or each.last < version.first for each in versions)
        if send_at and is_last and not self.reporting[record_id]:
            at = datetime.fromisoformat(send_at)
            self.record.send_at[record_id] = at, self.simulation.number

    def _version(self, person: Person) -> dict[str, Any]:
        """Return a new version of a purchase, or repeat an earlier one."""
        account_id, words = person.account.id, {sent.token: sent for sent in self.record.sent}
        earlier = [
            version.definition
            for owner, record_id in self.record.purchases[-_RECENT:]
            if owner == account_id
            for version in self.record.versions.get(record_id, ())
            if version.word in words
        ]
        if not earlier or self.random.random() < 0.7:
            return self._purchase(person)
        definition = self.random.choice(earlier)
        sent = words[definition["metadata"]["note"]]
        self.record.sent.remove(sent)
        self.open_words[sent.token] = (sent.person, sent.is_other)
        return definition

    def _id_of(self, account: Account, definition: dict[str, Any]) -> str:
        return purchase_id(account.id, "Site", definition["externalId"])

    def _purchase(self, person: Person) -> dict[str, Any]:
        known = self.external_ids[person.account.id]
        if known and self.random.random() < 0.3:
            external_id = self.random.choice(known[-_RECENT:])
        else:
            external_id = self._id()
            known.append(external_id)
        ahead = self.random.choice([timedelta(0), timedelta(0), timedelta(0), timedelta(hours=30)])
        if self.has_accidents and self.random.random() < 0.1:
            # The survey about this purchase always kills its process.
            self.killing.add(purchase_id(person.account.id, "Site", external_id))
        phone = self._phone(person)
        word = self._word(person, is_other=phone == person.other_phone)
        send_at = format_timestamp(clock.now() + _SEND_AFTER)
        return {
            "source": "Site",
            "externalId": external_id,
            "storeId": person.account.store_id,
            "date": format_timestamp(clock.now() - timedelta(minutes=1) + ahead),
            "customer": {
                "email": self.random.choice(person.emails),
                "phoneNumber": phone,
                "firstName": word,
                "emailOptin": self.random.random() < 0.8,
                "smsOptin": self.random.random() < 0.8,
            },
            "metadata": {"note": word},
            **self.random.choice([{}, {}, {}, {"sendAt": send_at}, {"sendAt": None}]),
        }

    def accept_batch(self, account: Account, person: Person | None = None) -> None:
        """Send a batch of customers; repeat the request if there is no response."""
        people = self.random.sample(account.people, self.random.randint(0, 3))
        if person and person not in people:
            people.append(person)
        phones = {person: self._phone(person) for person in people}
        rows = [
            {
                "email": self.random.choice(person.emails),
                "phoneNumber": phone,
                "firstName": self._word(person, is_other=phone == person.other_phone),
                "emailOptin": True,
            }
            for person, phone in phones.items()
        ]
        words = [row["firstName"] for row in rows]
        rows += [{"email": f"{self._id()}@example.test"} for _ in range(self.random.randint(0, 4))]
        if self.random.random() < 0.3:
            rows.append({"company": "Lumen"})
        rows = rows or [{"company": "Lumen"}]
        self.random.shuffle(rows)
        key = self._id()
        if self.has_accidents and self.used_keys and self.random.random() < 0.4:
            self._send_again_after_expiry(account)
            return
        self.used_keys.append((account, key, rows))
        self._send_batch(account, rows, key, *words)

    def _send_batch(self, account: Account, rows: Any, key: str, *words: str) -> None:
        def send(_: Invocation) -> None:
            accepted = accept_batch(account.id, validate_batch({"batch": rows}, partial=False), key)
            self.record.batches.append((account.id, accepted.id, len(rows)))

        self._start("accept batch", send, *words, attempts=3)

    def _send_again_after_expiry(self, account: Account) -> None:
        """Reuse an idempotency key after DynamoDB has deleted its import."""
        rows = self.simulation.tables.rows("imports")
        is_running = any("due_at" in row for row in rows.values())
        batches = [each for each in self.used_keys if each[0] is account]
        if is_running or not batches or self.simulation.invocations:
            return
        for key in list(rows):
            self.simulation.tables.delete_row("imports", key)
        self.record.batches.clear()
        _, key_of_batch, batch_rows = self.random.choice(batches)
        # Rows about people would be new input with an old word.
        emails = [_canonical(row.get("email", "")) for row in batch_rows]
        if not any(email in self.person_at for email in emails):
            self._send_batch(account, batch_rows, key_of_batch)

    def submit_form(self, account: Account, person: Person | None = None) -> None:
        """Submit the contact form; repeat the request if there is no response."""
        person = person or self.random.choice(account.people)
        word = self._word(person)
        values = {
            "note": word,
            "mail": self.random.choice(person.emails),
            "phone": person.phone,
            "nps": str(self.random.randint(0, 10)),
        }
        if self.random.random() < 0.2:
            values = {"nps": "7"}
        body = {"id": account.form_id, "fields": self._answers(account, values)}
        metadata = self._metadata()

        def submit(_: Invocation) -> None:
            stored = submit_feedback(parse(body, ContactFormSubmission), metadata)
            self.record.submitted.append(stored.id)

        self._start("submit form", submit, word, attempts=3)

    def _metadata(self) -> SubmissionMetadata:
        """Return the metadata of a submission. The service counts submissions with an address."""
        address = self.random.choice(["203.0.113.7", ""])
        return SubmissionMetadata(Respondent(address=address), idempotency_key=self._id())

    def answer_survey(self, account: Account) -> None:
        """Answer a survey that a customer of the account has received, or whose link exists."""
        if tracker_id := self._tracker(account):
            # Sometimes two browsers submit different answers at the same time.
            for _ in range(self.random.choice([1, 1, 2])):
                self._answer(account, tracker_id)

    def _tracker(self, account: Account) -> str | None:
        """Return a tracker that a customer has received, or that is in a link."""
        mails = self.simulation.mails
        trackers = [m.tracker_id for m in mails if self.recipient(m).account is account]
        trackers += [tracker_id for owner, tracker_id in self.links if owner is account]
        return self.random.choice(trackers[-_RECENT:]) if trackers else None

    def _answer(self, account: Account, tracker_id: str) -> None:
        tables = self.simulation.tables
        tracker = tables.rows("trackers").get((tracker_id,), {})
        customer_id = tracker.get("customer_id", {}).get("S")
        customer = tables.rows("customers").get((f"{account.id}#{customer_id}",), {})
        phone = customer.get("phone_number", {}).get("S", "")
        person = self.person_at.get(phone)
        if person is None:
            return
        word = self._word(person, is_other=phone == person.other_phone)
        body = {
            "id": account.survey_id,
            "tracker": tracker_id,
            "fields": self._answers(account, {"note": word, "nps": "9"}),
        }
        metadata = self._metadata()

        def submit(_: Invocation) -> None:
            stored = submit_feedback(parse(body, SurveySubmission), metadata)
            self.record.submitted.append(stored.id)

        self._start("answer survey", submit, word, attempts=3)

    def tap(self, account: Account) -> None:
        """Tap a rating in a survey that a customer has received, or whose link exists."""
        if tracker_id := self._tracker(account):
            self._tap(account, tracker_id)

    def _tap(self, account: Account, tracker_id: str) -> None:
        """Tap ratings, sometimes in two browsers, and sometimes send the survey, too."""
        for _ in range(self.random.choice([1, 1, 2])):
            body = {
                "id": account.survey_id,
                "tracker": tracker_id,
                "step": "save",
                "fields": self._answers(account, {"nps": self.random.choice("89")}),
            }
            self._start("tap", partial(self._save, parse(body, SurveySubmission)), attempts=3)
        if self.random.random() < 0.3:
            self._answer(account, tracker_id)

    def _save(self, taps: SurveySubmission, _: Invocation) -> None:
        save_taps(taps, self._metadata())
        self.record.tapped.add(taps.tracker or "")

    def cancel_survey(self, account: Account) -> None:
        """Cancel the survey about a purchase that the service knows or receives later."""
        self._end_survey(account, "cancel survey", cancel_survey)

    def link_survey(self, account: Account) -> None:
        """Get a link to the survey about a purchase, instead of its message."""
        self._end_survey(account, "link survey", link_survey)

    def _end_survey(
        self, account: Account, name: str, end: Callable[[str, str], SurveyTracker]
    ) -> None:
        own = [record_id for owner, record_id in self.record.purchases if owner == account.id]
        if not own:
            return
        record_id = self.random.choice(own[-_RECENT:])

        def run(_: Invocation) -> None:
            with suppress(NotFound, Conflict):
                tracker = end(account.id, record_id)
                self.record.ended.setdefault(record_id, self.simulation.number)
                if tracker.link:
                    stored = self.simulation.tables.rows("solicitations")[(record_id,)]
                    self.links.append((account, stored["tracker_id"]["S"]))

        self._start(name, run, attempts=3)

    def unsubscribe(self, account: Account, person: Person | None = None) -> Invocation:
        """Follow the unsubscribe link of a person; repeat the request if there is no response."""
        person = person or self.random.choice(account.people)
        contact_hash = email_hash(account.id, self.random.choice(person.emails))
        assert contact_hash
        sent = (account.survey_id, account.store_id)
        token = UnsubscribeToken(account.id, contact_hash, Channel.EMAIL, *sent).signed(
            stage_secret()
        )

        def follow(_: Invocation) -> None:
            unsubscribe(token)
            self._ban(person, "EMAIL")

        return self._start("unsubscribe", follow, attempts=3)

    def revoke(self, account: Account, person: Person | None = None) -> Invocation | None:
        """Replace a customer by one without opt-ins."""
        person = person or self.random.choice(account.people)
        customer_id = self.customer_of(person)
        if customer_id is None or customer_id in self.moving:
            return None
        word = self._word(person)
        definition = {
            "id": customer_id,
            "email": self.random.choice(person.emails),
            "phoneNumber": person.phone,
            "firstName": word,
            "emailOptin": False,
            "smsOptin": False,
        }

        def save(_: Invocation) -> None:
            with suppress(NotFound), self._changes(customer_id):
                save_customer(account.id, definition)

        return self._start("revoke", save, word)

    @contextmanager
    def _changes(self, customer_id: str) -> Iterator[None]:
        """Keep a customer from being moved to other addresses during the ``with`` block.

        Raises:
            NotFound: the move of the customer has started already.
        """
        if customer_id in self.moving:
            raise NotFound("customer")
        self.changing[customer_id] += 1
        try:
            yield
        finally:
            self.changing[customer_id] -= 1

    def create_customer(self, account: Account) -> None:
        """Create several customers at the same time."""
        for _ in range(self.random.choice([1, 1, 1, 6])):
            body = parse({"email": f"{self._id()}@example.test"}, CustomerBody)
            key = self._id()
            self._start(
                "create customer",
                lambda _, body=body, key=key: create_customer(account.id, body, key),
                attempts=3,
            )

    def erase(self, account: Account) -> None:
        """Erase a person, often while work about the person runs.

        Repeat the command if it fails.
        """
        customers = {person: self.customer_of(person) for person in account.people}
        person = self.random.choice([each for each in account.people if customers[each]] or [None])
        if person is None:
            return
        customer_id = customers[person]
        assert customer_id
        if self.random.random() < 0.6:
            action, queue = self.random.choice(
                [
                    (self.send_purchase, "purchases"),
                    (self.accept_batch, "imports.fifo"),
                    (self.submit_form, "feedback"),
                ]
            )
            action(account, person)
            self.simulation.set_lag(self.random.choice([0, 2, 30, 120]))
            if self.random.random() < 0.5:
                # The input is processed after the erasure has ended.
                self.simulation.stop(queue, 3_600)
            if self.random.random() < 0.5:
                # The service gets the input before the erasure starts.
                self.planned_erasures.append((person, customer_id))
                return
        self._erase(person, customer_id)

    def _erase(self, person: Person, customer_id: str) -> None:
        account = person.account
        started: list[tuple[int, float]] = []

        def run(_: Invocation) -> None:
            started.append((self.simulation.number, self.simulation.now))
            started_at, now = started[0]
            self.record.erased_people.add(person)
            with suppress(NotFound), self._changes(customer_id):
                erasure = start_erasure(account.id, customer_id, "operator")
                # Without a new erasure, the receipt states the time of the earlier one.
                if erasure.erased_at.timestamp() >= now:
                    words = self.words_in("customers", "purchases")
                    requested = RequestedErasure(person, customer_id, started_at, frozenset(words))
                    self.record.erasures.append(requested)
                    if person in account.people and self.random.random() < 0.5:
                        # Otherwise all people have soon been erased.
                        account.people.remove(person)
                        self._add_person(account)
                self._ban(person, "EMAIL")
                self._ban(person, "SMS")
                if self.random.random() < 0.3:
                    # The command is stopped, and the service starts long after the request.
                    self.simulation.stop("erasures", self.random.uniform(600, 3_600))
                    return
                continue_erasure(erasure.pointer)

        self._start("erase", run, attempts=2)

    def accident(self, account: Account) -> None:
        """Damage data as a restore from a backup can."""
        tables = self.simulation.tables
        if self.random.random() < 0.5:
            for key in list(tables.rows("contact-forms")):
                if key[0] == account.form_id:
                    self.missing_forms.add(account.form_id)
                    tables.delete_row("contact-forms", key)
        else:
            key = (account.id, "customers")
            counter = tables.rows("counters").get(key)
            if counter:
                total = int(counter["total"]["N"]) + 1
                tables.change_row("counters", key, total={"N": str(total)})

    def customer_of(self, person: Person) -> str | None:
        """Return the id of a customer with the person's phone number."""
        for row in self.simulation.tables.rows("customers").values():
            is_own = row["account_id"]["S"] == person.account.id
            if is_own and row.get("phone_number", {}).get("S") == person.phone:
                return str(row["id"]["S"])
        return None

    def words_in(self, *tables: str) -> dict[str, set[str]]:
        """Return the words in rows of these tables, each with the tables that contain it."""
        words: dict[str, set[str]] = {}
        for name in tables:
            for row in self.simulation.tables.rows(name).values():
                for word in _WORD.findall(" ".join(map(text_of, row.values()))):
                    words.setdefault(word, set()).add(name)
        return words

    def personal_words(self) -> dict[str, set[str]]:
        """Return the words in all tables that an erasure changes."""
        return self.words_in(*(set(self.simulation.tables.names) - set(NOT_PERSONAL)))

    # Reactions to requests of the service

    def _react(self, invocation: Invocation, arguments: Any) -> Invocation | None:
        if invocation.name in ("erase", "erasures"):
            self._judge_erasures()
        if self.simulation.rates == NO_FAULTS:
            return None
        if invocation.name == "erasures" and "feedback-test-purchases" in arguments.values():
            return self._interrupt_erasure(arguments)
        if invocation.name == "answer survey" and "feedback-test-trackers" in str(arguments):
            # Another answer is stored after the service has read that the tracker is unused.
            others = (each for each in self.simulation.invocations if each is not invocation)
            return next((each for each in others if each.name == invocation.name), None)
        if invocation.name != "solicitations":
            return None
        if "RawMessage" in arguments or "PhoneNumber" in arguments:
            return self._interrupt_sending(invocation)
        read = arguments.get("RequestItems", {}).get("feedback-test-contacts", {})
        keys = {key["key"]["S"] for key in read.get("Keys", ())}
        for account in self.accounts:
            for person in account.people:
                if current_keys(account.id, person.address, None)[Channel.EMAIL] in keys:
                    return self._interrupt_decision(person)
        return None

    def _interrupt_erasure(self, arguments: Any) -> Invocation | None:
        """Record a purchase of an erased person after the service has looked for purchases."""
        values = [value["S"] for value in arguments["ExpressionAttributeValues"].values()]
        for person in [e.person for e in self.record.erasures if e.customer_id in values]:
            definition = self._purchase(person)
            return self._record_version(
                person.account, "import purchase", record_purchase, definition
            )
        return None

    def _interrupt_decision(self, person: Person) -> Invocation | None:
        """Change facts after the service has read them to decide about a survey to a person."""
        chance = self.random.random()
        if chance < 0.25:
            # Another survey is sent to the person.
            return self._send_survey_first(person)
        if chance < 0.33:
            return self.unsubscribe(person.account, person)
        return self.revoke(person.account, person) if chance < 0.4 else None

    def _send_survey_first(self, person: Person) -> Invocation:
        """Record another purchase of the person, and send its survey at once."""

        def send(purchase: Purchase) -> None:
            self.simulation.urgent = self.simulation.deliver_again(
                "solicitations", lambda body: purchase.id in body
            )

        definition = self._purchase(person)
        account = person.account
        return self._record_version(account, "import purchase", record_purchase, definition, send)

    def _move_survey(self) -> Invocation | None:
        """Report the purchase of a claimed survey again, once, with a later time of its survey."""
        rows = self.simulation.tables.rows("solicitations")
        claimed = [key for (key,), row in rows.items() if "leased_until" in row]
        chosen = self.random.choice(
            [key for key in claimed if key not in self.moved_surveys] or [""]
        )
        versions = self.record.versions.get(chosen, ())
        words = {sent.token: sent for sent in self.record.sent}
        known = [v.definition for v in versions if v.word in words]
        if not known:
            return None
        definition = self.random.choice(known)
        self.moved_surveys.add(chosen)
        person = words[definition["metadata"]["note"]].person
        is_other = definition["customer"]["phoneNumber"] == person.other_phone
        word = self._word(person, is_other=is_other)
        moved = {
            **definition,
            "customer": {**definition["customer"], "firstName": word},
            "metadata": {"note": word},
            "sendAt": format_timestamp(clock.now() + _MUCH_LATER),
        }
        return self._record_version(person.account, "move survey", report_purchase, moved)

    def _interrupt_sending(self, invocation: Invocation) -> Invocation | None:
        """Act after the provider has got or refused a message, before its outcome is stored."""
        mails, chance = self.simulation.mails, self.random.random()
        is_refused = not mails or mails[-1].invocation is not invocation
        if self.random.random() < (0.7 if is_refused else 0.05):
            return self._move_survey()
        if is_refused:
            return None
        has_bounced = self.record.bounced and self.record.bounced[-1][0] is mails[-1]
        if has_bounced and chance < 0.8:
            # The notification arrives before the outcome.
            message_id = mails[-1].message_id
            return self.simulation.deliver_again("message-events", lambda body: message_id in body)
        tracker = self.simulation.tables.rows("trackers").get((mails[-1].tracker_id,))
        if tracker and chance < 0.5:
            # SQS delivers the message of the survey again.
            solicitation_id = tracker["purchase_id"]["S"]
            return self.simulation.deliver_again(
                "solicitations", lambda body: solicitation_id in body
            )
        return None

    def _judge_erasures(self) -> None:
        """Check the erasures that have just ended, if no other one of the person continues."""
        erasures = self.simulation.tables.rows("erasures")
        states = [
            erasures[(erasure_id(each.person.account.id, each.customer_id),)]["state"]["S"]
            for each in self.record.erasures
        ]
        pairs = list(zip(self.record.erasures, states, strict=True))
        continued = {erasure.person for erasure, state in pairs if state != "DONE"}
        for number, (erasure, _) in enumerate(pairs):
            if erasure.person not in continued and number not in self.checked_after_erasure:
                self.checked_after_erasure.add(number)
                self.record.violations += self.remains_of(erasure, self.personal_words())

    def remains_of(self, erasure: RequestedErasure, words: dict[str, set[str]]) -> Iterator[str]:
        """Describe the input about an erased person that the service still stores.

        Args:
            words: the tables that contain each word.
        """
        for sent in self._sent_before(erasure):
            if sent.token in words and not sent.is_other:
                yield _violation(erasure, sent, words)

    def stored_after(self, erasure: RequestedErasure, words: dict[str, set[str]]) -> Iterator[str]:
        """Describe older input with an erased address that was processed after the erasure."""
        for sent in self._sent_before(erasure):
            if sent.token in words and sent.is_other and sent.token not in erasure.stored:
                yield _violation(erasure, sent, words)

    def _sent_before(self, erasure: RequestedErasure) -> Iterator[Sent]:
        for sent in self.record.sent:
            if sent.person is erasure.person and sent.ended_at <= erasure.started_at:
                yield sent

    # The outside

    def post(
        self, url: str, headers: dict[str, str], body: bytes, *, allow_private: bool
    ) -> WebhookResponse:
        """Receive a webhook, as `post` of the service."""
        simulation, chance = self.simulation, self.random.random
        simulation.now += self.random.uniform(0.01, 0.3)
        execution_id = headers["X-Service-Webhook-Id"]
        rates = simulation.rates
        if chance() < rates.lost:
            return WebhookResponse(
                5_000, was_sent=False, error=WebhookFailure.NO_CONNECTION, detail="Refused."
            )
        status = 200 if chance() > 10 * rates.lost else self.random.choice([500, 503])
        is_killed = chance() < rates.killed
        is_lost = is_killed or chance() < rates.lost
        self._check_post(execution_id)
        self.record.posts.append((execution_id, status))
        if chance() < 2 * rates.repeated_message:
            # SQS delivers the message of the webhook again.
            again = simulation.deliver_again("webhooks", lambda body: execution_id in body)
            simulation.let_others_run(again)
        if is_killed:
            raise Killed
        if is_lost:
            simulation.now += 10
            return WebhookResponse(
                10_000, was_sent=True, error=WebhookFailure.TIMEOUT, detail="No response."
            )
        return WebhookResponse(12, was_sent=True, status=status)

    def _check_post(self, execution_id: str) -> None:
        seen = getcurrent().seen["executions"]
        row = seen[(execution_id, "execution")]
        if row["state"]["S"] != "PENDING":
            self.record.violations.append(f"webhook {execution_id} sent as {row['state']['S']}")

    def recipient(self, mail: Mail) -> Person:
        """Return the person who received a message."""
        return self.person_of(mail.to)

    def person_of(self, address: str) -> Person:
        """Return the person with an e-mail address or a phone number."""
        return self.person_at[_canonical(address)]

    def _receive_mail(self, mail: Mail) -> None:
        self.record.violations += self._violations_of(mail)
        if mail.channel == "EMAIL" and self.random.random() < 0.2:
            self._bounce(mail)
        elif self.random.random() < 0.5:
            self._tap(self.recipient(mail).account, mail.tracker_id)

    def _violations_of(self, mail: Mail) -> Iterator[str]:
        """Compare a message with what its sender knew after its last request."""
        seen, person = mail.invocation.seen, self.recipient(mail)
        where = f"{mail.channel} to {mail.to} at request {self.simulation.number}"
        key = (person.account.id, person.address, mail.channel)
        for banned in (self.record.banned, self.record.opted_out):
            banned_at = None if mail.to == person.other_phone else banned.get(key)
            if banned_at is not None and banned_at < mail.invocation.seen_at["contacts"]:
                yield f"{where}: suppressed at request {banned_at}"
        first: dict[str, Mail] = {}
        for earlier in self.simulation.mails[:-1]:
            if earlier.tracker_id == mail.tracker_id and earlier.tracker_id in first:
                yield f"{where}: third message of a tracker"
            # The delay between two surveys counts from the survey, not from its reminder.
            is_reminder = first.setdefault(earlier.tracker_id, earlier) is not earlier
            if (
                self.recipient(earlier) is person
                and not is_reminder
                and earlier.tracker_id != mail.tracker_id
                and mail.at - earlier.at < person.account.delay_s - _MAX_SKEW_S
            ):
                yield f"{where}: second survey within the delay"
        tracker = seen["trackers"].get((mail.tracker_id,))
        if tracker is None:
            yield f"{where}: no tracker"
            return
        if "used_at" in tracker or "tapped_at" in tracker:
            yield f"{where}: the survey was answered"
        record_id, survey = tracker["purchase_id"]["S"], first.get(mail.tracker_id)
        solicitation = seen["solicitations"][(record_id,)]
        decided_at = mail.invocation.seen_at["solicitations"]
        if self.record.ended.get(record_id, decided_at) < decided_at:
            yield f"{where}: the survey was cancelled, or the partner has its link"
        send_at, known_at = self.record.send_at.get(record_id, (clock.now(), decided_at))
        is_early = send_at.timestamp() > mail.at + _MAX_SKEW_S
        if not survey and is_early and known_at < decided_at:
            yield f"{where}: before {send_at}, as the partner knows since request {known_at}"
        if survey and solicitation["state"]["S"] != "SENT":
            yield f"{where}: reminder of a survey that was not sent"
        if survey and mail.at - survey.at < REMINDER_DELAY_S - _MAX_SKEW_S:
            yield f"{where}: early reminder"
        purchase = seen["purchases"][(f"{person.account.id}#{record_id}",)]
        buyer = purchase.get("customer_id", {}).get("S")
        customer = seen["customers"].get((f"{person.account.id}#{buyer}",))
        optin = "email_optin" if mail.channel == "EMAIL" else "sms_optin"
        if customer is None:
            yield f"{where}: the purchase has no customer"
        elif not self._has_address(customer, mail):
            yield f"{where}: not the address of the customer"
        elif not customer.get(optin, {}).get("BOOL"):
            yield f"{where}: no consent"

    def _has_address(self, customer: Any, mail: Mail) -> bool:
        name = "email" if mail.channel == "EMAIL" else "phone_number"
        stored = customer.get(name, {}).get("S", "")
        return _canonical(stored) == _canonical(mail.to)

    def _bounce(self, mail: Mail) -> None:
        headers = [{"name": name, "value": value} for name, value in mail.headers]
        if mail.is_known and self.random.random() < 0.7:
            headers = []  # Only the message id names the survey.
        body = {
            "notificationType": "Bounce",
            "mail": {
                "messageId": mail.message_id,
                "headersTruncated": not headers,
                "headers": headers,
            },
            "bounce": {
                "bounceType": "Permanent",
                "bouncedRecipients": [{"emailAddress": mail.to}],
            },
        }
        self.record.bounced.append((mail, bool(headers)))
        delay_s = self.random.choice([0, 0, 5, 300])
        self.simulation.send("message-events", json.dumps(body), delay_s=delay_s)

    def _kills(self, invocation: Invocation, arguments: Any) -> bool:
        """Return whether this is the claim of work that always kills its process."""
        if not self.has_accidents:
            return False
        if "claim_token" in arguments.get("ExpressionAttributeNames", {}).values():
            execution_id = arguments["Key"]["execution_id"]["S"]
            return invocation.name == "webhooks" and execution_id.startswith("0")
        if invocation.name != "solicitations":
            return False
        writes = [next(iter(each.values())) for each in arguments.get("TransactItems", ())]
        keys = [write.get("Key", {}).get("solicitation_id", {}).get("S") for write in writes]
        return bool(self.killing & set(keys))

    # The record

    def _ban(self, person: Person, channel: str) -> None:
        key = (person.account.id, person.address, channel)
        self.record.banned.setdefault(key, self.simulation.number)

    def _start(
        self,
        name: str,
        run: Callable[[Invocation], object],
        *words: str,
        attempts: int = 1,
        timeout_s: float = _API_TIMEOUT_S,
    ) -> Invocation:
        """Start a request of a client, who repeats it if it fails."""

        def request(invocation: Invocation) -> None:
            is_done = False
            try:
                with time_limits(invocation):
                    run(invocation)
                is_done = True
            except Exception as error:  # the client gets an error response
                self.simulation.faults[f"{name}: {type(error).__name__}"] += 1
            finally:
                if not is_done and attempts > 1:
                    self._start(name, run, *words, attempts=attempts - 1, timeout_s=timeout_s)
                else:
                    self._end(*words)

        return self.simulation.start(name, request, timeout_s, None)

    def _word(self, person: Person, *, is_other: bool = False) -> str:
        """Return a new word for input about a person."""
        self.words += 1
        word = f"Word{self.words}x"
        self.open_words[word] = (person, is_other)
        return word

    def _end(self, *words: str) -> None:
        for word in words:
            if word in self.open_words:
                person, is_other = self.open_words.pop(word)
                self.record.sent.append(Sent(person, word, self.simulation.number, is_other))

    def _phone(self, person: Person) -> str:
        return self.random.choice([person.phone, person.phone, person.phone, person.other_phone])

    def _answers(self, account: Account, values: dict[str, str]) -> list[dict[str, Any]]:
        return [{"id": account.field_ids[key], "values": [value]} for key, value in values.items()]

    def _id(self) -> str:
        return str(UUID(int=self.random.getrandbits(128), version=4))

    def new_process(self) -> None:
        """Start with empty caches."""
        clear_caches()


def _violation(erasure: RequestedErasure, sent: Sent, words: dict[str, set[str]]) -> str:
    return (
        f"{sent.token} of {sent.person.address} from request {sent.ended_at} is in"
        f" {sorted(words[sent.token])} after the erasure at request {erasure.started_at}"
    )


def text_of(value: Item) -> str:
    """Return the content of an attribute as text."""
    return zlib.decompress(value["B"]).decode() if "B" in value else json.dumps(value)


def _canonical(address: str) -> str:
    local, at, domain = address.lower().rpartition("@")
    return f"{local}{at}{domain.encode('idna').decode()}" if at else address
