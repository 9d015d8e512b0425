"""The programs of partners that change customers and copy feedback, and live operator commands."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from typing import Any, Final

from admin.services.feedback.exclude import delete_feedback, mark_test
from admin.services.feedback.republish import republish_feedback
from admin.services.recount.recount import INDEX_LAG_S, recount
from chalicelib.domain.customers.addresses import CustomerPair, pair_of
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.errors import Conflict, InvalidInput, NotFound
from chalicelib.domain.feedback.daily import RATINGS
from chalicelib.domain.feedback.feed import FeedRequest
from chalicelib.domain.feedback.statistics import MAX_DAYS, StatisticsRequest
from chalicelib.domain.ids import derived_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.consent import (
    ConsentListRequest,
    ConsentReason,
    CustomerConsent,
)
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.domain.work import WorkState
from chalicelib.services.customers.change import change_customer
from chalicelib.services.feedback.feed import partner_views, read_feed
from chalicelib.services.feedback.statistics import read_statistics
from chalicelib.services.solicitation.consents import list_consents
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.services.solicitation.suppressions import opt_out
from chalicelib.storage import feedback
from chalicelib.storage.dynamodb.table import account_key
from tests.aws.tables import Tables
from tests.campaign.simulation import NO_FAULTS, Invocation, Simulation
from tests.campaign.world import Account, Person, World, text_of

_WITH_PAIRS: Final = ("purchases", "import purchase", "report purchase", "feedback", "imports.fifo")
"""The work that finds customers by their pair."""

_COMMAND_S: Final = 3_600.0
"""The time after which an operator stops a command."""

_Ban = tuple[str, str, str]
"""An account, an address and a channel."""

_TOLD: Final[dict[Any, list[Any]]] = {
    None: [None, "OPTED_OUT"],
    "OPTED_OUT": [None, "OPTED_OUT"],
    "ERASED": [None, *ConsentReason],
}
"""The reasons that a copy may contain instead of a stored one, which the partner told or which
another customer with the address caused.
"""

_READERS: Final[tuple[dict[str, Any], ...]] = ({}, {"includeTests": True}, {"maxRating": 6})
"""The filters of the readers of each account."""


@dataclass
class Reader:
    """A partner's program that copies the feed of an account.

    Attributes:
        body: the filters of its requests.
        copy: the feedback by id.
        may_restart: whether the service may say that the cursor is invalid, after a restore.
    """

    account: Account
    body: dict[str, Any]
    cursor: str | None = None
    copy: dict[str, Any] = field(default_factory=dict)
    may_restart: bool = False
    is_reading: bool = False
    pages: int = 0
    removed: int = 0

    def read(self, limit: int) -> bool:
        """Read a page and apply it to the copy. Return whether there is more."""
        body = {**self.body, "limit": limit, "cursor": self.cursor}
        try:
            page = read_feed(self.account.id, parse(body, FeedRequest))
        except InvalidInput:
            if not self.may_restart:
                raise
            self.cursor, self.copy, self.may_restart = None, {}, False
            return True
        for item in page.items:
            self.copy[item.id] = item
        for removed in page.removed:
            self.removed += self.copy.pop(removed.id, None) is not None
        self.cursor = page.meta.cursor
        self.pages += 1
        return page.meta.has_more

    def differences(self, simulation: Simulation) -> Iterator[str]:
        """Read the rest of the feed, and compare the copy with the store."""
        while self.read(100):
            pass
        wanted = [
            record
            for record in _stored(self.account, simulation)
            if record.state is WorkState.DONE
            and parse(self.body, FeedRequest).matches(record.feedback)
            and (self.body.get("includeTests") or not record.is_test)
        ]
        expected = {view.id: view for view in partner_views(self.account.id, wanted)}
        for feedback_id in expected.keys() | self.copy.keys():
            if self.copy.get(feedback_id) != expected.get(feedback_id):
                known = feedback_id in self.copy, feedback_id in expected
                yield f"{feedback_id} differs for {self.body}: copied, stored = {known}"


@dataclass
class ConsentReader:
    """A partner's program that copies the consents of an account."""

    account: Account
    cursor: str | None = None
    copy: dict[str, CustomerConsent] = field(default_factory=dict)
    may_restart: bool = False
    is_reading: bool = False
    pages: int = 0
    removed: int = 0

    def read(self, limit: int) -> bool:
        """Read a page and apply it to the copy. Return whether there is more."""
        body = {"limit": limit, "cursor": self.cursor}
        page = list_consents(self.account.id, parse(body, ConsentListRequest))
        for item in page.items:
            known = self.copy.pop(item.customer_id, None)
            if not item.removed:
                self.copy[item.customer_id] = item
            self.removed += item.removed and known is not None
        self.cursor = page.meta.cursor
        self.pages += 1
        return page.meta.has_more

    def differences(self, simulation: Simulation) -> Iterator[str]:
        """Read to the end of the list twice, and compare the copy with the store."""
        for _ in range(2):  # A change that the index hides from a pass is in the next one.
            while self.read(100):
                pass
        account_id, tables = self.account.id, simulation.tables
        customers, contacts = tables.rows("customers"), tables.rows("contacts")
        rows = {row["customer_id"]["S"]: row for row in contacts.values() if "changed_at" in row}
        for customer_id in self.copy:
            if customer_id not in rows or "removed" in rows[customer_id]:
                yield f"the copy of consents contains the customer {customer_id}"
        for (key,), customer in customers.items():
            owner, _, customer_id = key.partition("#")
            if owner != account_id:
                continue
            row, copied = rows.get(customer_id, {}), self.copy.get(customer_id)
            if customer.get("email_bounced", {}).get("BOOL") and copied is None:
                yield f"the copy of consents lacks the bounce of {customer_id}"
            email = customer.get("email", {}).get("S")
            contact = current_keys(account_id, email, None).get(Channel.EMAIL, "")
            if row.get("email_contact", {}).get("S") != contact:
                continue
            stored = contacts[(contact,)].get("suppressed_email", {}).get("S")
            found = {each.channel: each.reason for each in copied.addresses} if copied else {}
            if Channel.EMAIL not in found or found[Channel.EMAIL] not in _TOLD.get(
                stored, [stored]
            ):
                yield f"consent of {customer_id}: copied {found}, stored {stored}"


@dataclass(frozen=True)
class Moved:
    """A customer to whom a partner gave the addresses of somebody else, without consent.

    Attributes:
        person: the person who had the addresses before.
        linked: the ids of the customer's purchases, and of feedback without a tracker, after that.
    """

    account: Account
    person: Person
    customer_id: str
    linked: frozenset[str]

    def violations(self, simulation: Simulation) -> Iterator[str]:
        """Describe work about the earlier person that changed the customer afterwards."""
        tables = simulation.tables
        row = tables.rows("customers").get((account_key(self.account.id, self.customer_id),))
        if row is None:
            return
        added = linked_to(tables, self.customer_id) - self.linked
        if added and not any(map(self._is_created_for, added)):
            yield f"{added} of another person belong to the customer {self.customer_id}"
        if any(row.get(name, {}).get("BOOL") for name in ("email_optin", "sms_optin")):
            yield f"the customer {self.customer_id} has the consent of another person"
        if "first_name" in row:
            yield f"the customer {self.customer_id} has a name of another person: {row}"

    def _is_created_for(self, record_id: str) -> bool:
        """Return whether feedback has created the customer, and refers to it."""
        return self.customer_id == derived_id(record_id, "customer")


def _pair(person: Person) -> CustomerPair:
    pair = pair_of(person.address, person.phone)
    assert pair
    return pair


def linked_to(tables: Tables, customer_id: str) -> frozenset[str]:
    """Return the ids of a customer's purchases, and of feedback without a tracker."""
    linked = [
        row["id"]["S"] for row in tables.rows("purchases").values() if _is_of(row, customer_id)
    ]
    linked += [
        feedback_id
        for (feedback_id,), row in tables.rows("feedback").items()
        if _is_of(row, customer_id) and '"trackerId":null' in text_of(row["document"])
    ]
    return frozenset(linked)


def _is_of(row: Any, customer_id: str) -> bool:
    return bool(row.get("customer_id", {}).get("S") == customer_id)


class PartnerWorld(World):
    """Respondents, customers, operators, and the programs of partners.

    Attributes:
        lifting: the number of running requests that can lift a partner's opt-out, by account,
            address and channel.
        lifted: the number of those that have ended.
    """

    def __init__(self, simulation: Simulation, *, has_accidents: bool) -> None:
        super().__init__(simulation, has_accidents=has_accidents)
        self.readers: list[Reader | ConsentReader] = [
            Reader(account, dict(b)) for account in self.accounts for b in _READERS
        ]
        self.readers += map(ConsentReader, self.accounts)
        self.moved: list[Moved] = []
        self.lifting: Counter[_Ban] = Counter()
        self.lifted: Counter[_Ban] = Counter()
        simulation.while_torn = self._while_torn

    def actions(self) -> list[tuple[Callable[[Account], object], int]]:
        """Return the actions of participants, each with its weight."""
        return [
            *super().actions(),
            (self.patch_customer, 4),
            (self.move_customer, 1),
            (self.opt_out, 2),
            (self.change_feedback, 3),
            (self.read, 15),
            (self.recount, 1),
        ]

    # Customers

    def patch_customer(self, account: Account) -> None:
        """Change a customer. An opt-in that is set to true lifts an opt-out of the partner."""
        person = self.random.choice(account.people)
        customer_id = self.customer_of(person)
        if customer_id is None or customer_id in self.moving:
            return
        word = self._word(person)
        optins = {name: self.random.choice([None, True, False]) for name in ("email", "sms")}
        body = {f"{name}Optin": value for name, value in optins.items() if value is not None}
        patch = parse({"firstName": word, **body}, CustomerPatch)
        bans = {(account.id, person.address, name.upper()): on for name, on in optins.items()}
        lifts = [ban for ban, is_on in bans.items() if is_on]

        def change(_: Invocation) -> None:
            for ban in lifts:
                self.record.opted_out.pop(ban, None)
            before = Counter(self.lifted)
            self.lifting.update(lifts)
            try:
                with self._changes(customer_id):
                    change_customer(account.id, customer_id, patch)
            except NotFound:
                return
            finally:
                self.lifting.subtract(lifts)
                self.lifted.update(lifts)
            for ban, is_on in bans.items():
                if is_on is False:
                    self._record_opt_out(ban, before)

        self._start("patch customer", change, word, attempts=2)

    def opt_out(self, account: Account) -> None:
        """Respect the wish of a person to receive no messages."""
        person = self.random.choice(account.people)
        email = {"email": self.random.choice(person.emails)}
        address, channel = self.random.choice(
            [(email, "EMAIL"), ({"phoneNumber": person.phone}, "SMS")]
        )

        def request(_: Invocation) -> None:
            before = Counter(self.lifted)
            opt_out(account.id, parse(address, OptOut))
            self._record_opt_out((account.id, person.address, channel), before)

        self._start("opt out", request, attempts=3)

    def _record_opt_out(self, ban: _Ban, lifted_before: Counter[_Ban]) -> None:
        """Expect no message, unless another request may have lifted the opt-out meanwhile."""
        if not self.lifting[ban] and self.lifted[ban] == lifted_before[ban]:
            self.record.opted_out.setdefault(ban, self.simulation.number)

    def move_customer(self, account: Account, person: Person | None = None) -> Invocation | None:
        """Give the record of a person to somebody of whom no other input exists."""
        person = person or self.random.choice(account.people)
        customer_id = self.customer_of(person)
        if customer_id is None or customer_id in self.moving or self.changing[customer_id]:
            return None
        self.moving.add(customer_id)
        somebody = self._add_person(account)
        account.people.remove(somebody)
        addresses = {"email": somebody.address, "phoneNumber": somebody.phone}
        body = {**addresses, "firstName": None, "emailOptin": False, "smsOptin": False}
        patch = parse(body, CustomerPatch)

        def change(_: Invocation) -> None:
            try:
                change_customer(account.id, customer_id, patch)
            except NotFound:
                return
            finally:
                # An erasure of the person does not find this record any more.
                self.record.sent = [sent for sent in self.record.sent if sent.person is not person]
                words = self.open_words.items()
                self.open_words = {word: each for word, each in words if each[0] is not person}
                # Later versions of its purchases with the earlier addresses belong to it too.
                self._end_versions(account, customer_id)
            linked = linked_to(self.simulation.tables, customer_id)
            self.moved.append(Moved(account, person, customer_id, linked))
            for channel in ("EMAIL", "SMS"):
                self._record_opt_out((account.id, somebody.address, channel), Counter())

        return self._start("move customer", change)

    def _end_versions(self, account: Account, customer_id: str) -> None:
        """Send no further versions of the purchases that are recorded for a customer."""
        recorded = {
            row["external_id"]["S"]
            for row in self.simulation.tables.rows("purchases").values()
            if _is_of(row, customer_id)
        }
        known = self.external_ids[account.id]
        known[:] = [each for each in known if each not in recorded]

    # Feedback

    def change_feedback(self, account: Account) -> Invocation | None:
        """Mark or delete feedback, as operators do. Repeat the command if it fails."""
        rows = self.simulation.tables.rows("feedback")
        own = [
            each
            for each in self.record.submitted
            if (row := rows.get((each,))) and row["account_id"]["S"] == account.id
        ]
        if not own:
            return None
        feedback_id = self.random.choice(own)
        is_deletion, is_test = self.random.random() < 0.3, self.random.random() < 0.7
        if is_deletion:
            self.record.deleted.add(feedback_id)

        def run(_: Invocation) -> None:
            with suppress(NotFound, Conflict):
                if is_deletion:
                    delete_feedback(feedback_id, "operator")
                else:
                    mark_test(feedback_id, is_test=is_test)

        return self._start("change feedback", run, attempts=2)

    def read(self, account: Account) -> Invocation | None:
        """Read a page with a reader. It repeats the request if there is no response."""
        idle = [r for r in self.readers if r.account is account and not r.is_reading]
        if not idle:
            return None
        reader, limit = self.random.choice(idle), self.random.choice([1, 7, 100])
        reader.is_reading = True

        def run(_: Invocation) -> None:
            try:
                reader.read(limit)
            finally:
                reader.is_reading = False

        return self._start("read feed", run)

    def recount(self, account: Account) -> None:
        """Repair counts while work runs."""
        if self.simulation.max_lag_s == inf:
            self._command("recount", lambda: list(recount(account.id, fix=True)))

    def repair_restored(self) -> None:
        """Repair counts and the feed after a restore, as the runbook says."""

        def repair() -> None:
            for account in self.accounts:
                list(recount(account.id, fix=True))
                republish_feedback(account.id)

        self._command("repair", repair)

    def _command(self, name: str, command: Callable[[], object]) -> None:
        """Run a command, which requires that indexes contain all changes after some seconds."""
        simulation = self.simulation

        def run(_: Invocation) -> None:
            simulation.max_lag_s = INDEX_LAG_S
            simulation.set_lag(0)
            simulation.tables.apply_lag()
            try:
                command()
            finally:
                simulation.max_lag_s = inf

        self._start(name, run, attempts=3, timeout_s=_COMMAND_S)

    # Reactions

    def _react(self, invocation: Invocation, arguments: Any) -> Invocation | None:
        """Change what the service has read, before it writes."""
        if self.simulation.rates == NO_FAULTS:
            return super()._react(invocation, arguments)
        pairs, heads = (
            _read_keys(arguments, name) for name in ("customer-pairs", "feedback-changes")
        )
        chance = self.random.random()
        for account in self.accounts:
            if account.id in heads and invocation.name != "change feedback" and chance < 0.3:
                return self.change_feedback(account)
            for person in account.people if pairs and chance < 0.05 else ():
                if invocation.name in _WITH_PAIRS and not pairs.isdisjoint(self._pair_keys(person)):
                    return self.move_customer(account, person)
        return super()._react(invocation, arguments)

    def _pair_keys(self, person: Person) -> list[str]:
        return [account_key(person.account.id, _pair(person).digest)]

    def _while_torn(self, _: Invocation, arguments: Any) -> Invocation | None:
        if "feedback-test-feedback-changes" not in str(arguments) or self.random.random() < 0.5:
            return None
        return self.read(self.random.choice(self.accounts))


def _read_keys(arguments: Any, table: str) -> set[str]:
    """Return the partition keys of a table that a request reads."""
    read = arguments.get("RequestItems", {}).get(f"feedback-test-{table}", {})
    return {next(iter(key.values()))["S"] for key in read["Keys"]} if "Keys" in read else set()


def wrong_copies(world: PartnerWorld) -> Iterator[str]:
    """Compare the copies of partners, and their statistics, with the store."""
    for reader in world.readers:
        if reader.account.form_id not in world.missing_forms:
            yield from reader.differences(world.simulation)
    for account in world.accounts:
        yield from wrong_statistics(account, world.simulation)


def _stored(account: Account, simulation: Simulation) -> list[Any]:
    rows = simulation.tables.rows("feedback").items()
    ids = [key for (key,), row in rows if row["account_id"]["S"] == account.id]
    return [record for key in ids if (record := feedback.find(key))]


def wrong_statistics(account: Account, simulation: Simulation) -> Iterator[str]:
    """Compare the statistics of an account with the feedback in the store."""
    counted = [record for record in _stored(account, simulation) if record.is_counted]
    expected = Counter((str(r.feedback.created_at.date()), r.feedback.store_id) for r in counted)
    if not counted:
        return
    until = max(record.feedback.created_at.date() for record in counted)
    body = {"since": str(until - timedelta(days=MAX_DAYS - 1)), "until": str(until)}
    request = parse({**body, "interval": "DAY", "groupBy": ["STORE"]}, StatisticsRequest)
    items = read_statistics(account.id, request).items
    found = Counter({(str(i.first_day), i.store_id): i.feedback_count for i in items})
    ratings = Counter(record.feedback.rating for record in counted)
    found_ratings = [sum(item.rating_counts[value] for item in items) for value in RATINGS]
    if found != expected or found_ratings != [ratings[value] for value in RATINGS]:
        yield f"statistics of {account.id}: {found} {found_ratings}, not {expected} {ratings}"
