"""A campaign about the feed of feedback: several readers copy it while feedback changes.

Usage: ``python -m tests.campaign.feed NUMBER [SEED]``. It submits this number of feedback records
to two accounts, with faults. Operators mark and delete records, the sweeper anonymizes old ones,
and customers are erased. In the end, each copy and the statistics must be equal to
the store.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import pytest

import tests.conftest  # noqa: F401 - sets the environment before the project is imported
from admin.domain.forms import survey
from admin.services.feedback.exclude import delete_feedback, mark_test
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.daily import RATINGS
from chalicelib.domain.feedback.feed import FeedRequest
from chalicelib.domain.feedback.statistics import MAX_DAYS, StatisticsRequest
from chalicelib.domain.parsing import parse
from chalicelib.domain.work import WorkState
from chalicelib.services.accounts.settings import change_account_settings
from chalicelib.services.feedback.feed import partner_views, read_feed
from chalicelib.services.feedback.statistics import read_statistics
from chalicelib.services.webhooks import send as webhooks
from chalicelib.storage import feedback
from tests.campaign import invariants
from tests.campaign.campaign import queues, rates, rest, work
from tests.campaign.simulation import (
    NO_FAULTS,
    Invocation,
    Simulation,
    installed,
    without_log,
)
from tests.campaign.world import REMINDER_DELAY_S, Account, World

_RETENTION_DAYS: Final = 1


@dataclass
class Reader:
    """A partner's program that copies the feed of an account.

    Attributes:
        body: the filters of its requests.
        copy: the feedback by id.
    """

    account: Account
    body: dict[str, Any]
    cursor: str | None = None
    copy: dict[str, Any] = field(default_factory=dict)
    is_reading: bool = False
    pages: int = 0
    removed: int = 0

    def read(self, limit: int) -> bool:
        """Read a page and apply it to the copy. Return whether there is more."""
        body = {**self.body, "limit": limit, "cursor": self.cursor}
        page = read_feed(self.account.id, parse(body, FeedRequest))
        for item in page.items:
            self.copy[item.id] = item
        for removed in page.removed:
            self.removed += self.copy.pop(removed.id, None) is not None
        self.cursor = page.meta.cursor
        self.pages += 1
        return page.meta.has_more


class FeedWorld(World):
    """Respondents, operators and readers of the feed."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation, has_accidents=False)
        change_account_settings(self.accounts[0].id, {"retentionDays": _RETENTION_DAYS}, "x")
        bodies: list[dict[str, Any]] = [{}, {"includeTests": True}, {"maxRating": 6}]
        self.readers = [Reader(account, body) for account in self.accounts for body in bodies]
        self.deleted: set[str] = set()

    def act(self) -> None:
        """Start a random action of a random participant."""
        actions, weights = zip(
            *((self.submit_form, 20), (self.change, 5), (self.read, 9), (self.erase, 1)),
            strict=True,
        )
        self.random.choices(actions, weights)[0](self.random.choice(self.accounts))

    def change(self, _: Account) -> None:
        """Mark or delete feedback, as operators do. Repeat the command if it fails."""
        if not self.record.submitted:
            return
        feedback_id = self.random.choice(self.record.submitted)
        is_deletion, is_test = self.random.random() < 0.3, self.random.random() < 0.7
        if is_deletion:
            self.deleted.add(feedback_id)

        def run(_: Invocation) -> None:
            with suppress(NotFound, Conflict):
                if is_deletion:
                    delete_feedback(feedback_id, "operator")
                else:
                    mark_test(feedback_id, is_test=is_test)

        self._start("change feedback", run, attempts=2)

    def read(self, _: Account) -> None:
        """Read a page with one of the readers. It repeats the request if there is no response."""
        reader = self.random.choice(self.readers)
        if reader.is_reading:
            return
        reader.is_reading, limit = True, self.random.choice([1, 7, 100])

        def run(_: Invocation) -> None:
            try:
                reader.read(limit)
            finally:
                reader.is_reading = False

        self._start("read feed", run)


def differences(world: FeedWorld, simulation: Simulation) -> Iterator[str]:
    """Read the rest of the feed, and compare the copies with the store."""
    world.record.submitted = [
        feedback_id for feedback_id in world.record.submitted if feedback_id not in world.deleted
    ]
    yield from world.record.violations
    yield from invariants.broken(simulation, world)
    for account in world.accounts:
        yield from wrong_statistics(account.id, simulation)
    for reader in world.readers:
        while reader.read(100):
            pass
        ids = [
            key
            for (key,), row in simulation.tables.rows("feedback").items()
            if row["account_id"]["S"] == reader.account.id
        ]
        stored = [record for key in ids if (record := feedback.find(key))]
        wanted = [
            record
            for record in stored
            if record.state is WorkState.DONE
            and parse(reader.body, FeedRequest).matches(record.feedback)
            and (reader.body.get("includeTests") or not record.is_test)
        ]
        expected = {view.id: view for view in partner_views(reader.account.id, wanted)}
        for feedback_id in expected.keys() | reader.copy.keys():
            if reader.copy.get(feedback_id) != expected.get(feedback_id):
                known = feedback_id in reader.copy, feedback_id in expected
                yield f"{feedback_id} differs for {reader.body}: copied, stored = {known}"


def wrong_statistics(account_id: str, simulation: Simulation) -> Iterator[str]:
    """Compare the statistics of an account with the feedback in the store."""
    ids = [
        key
        for (key,), row in simulation.tables.rows("feedback").items()
        if row["account_id"]["S"] == account_id
    ]
    counted = [stored for key in ids if (stored := feedback.find(key)) and stored.is_counted]
    expected = Counter(
        (str(stored.feedback.created_at.date()), stored.feedback.store_id) for stored in counted
    )
    if not counted:
        return
    until = max(stored.feedback.created_at.date() for stored in counted)
    body = {"since": str(until - timedelta(days=MAX_DAYS - 1)), "until": str(until)}
    request = parse({**body, "interval": "DAY", "groupBy": ["STORE"]}, StatisticsRequest)
    items = read_statistics(account_id, request).items
    found = Counter({(str(i.first_day), i.store_id): i.feedback_count for i in items})
    ratings = Counter(stored.feedback.rating for stored in counted)
    found_ratings = [sum(item.rating_counts[value] for item in items) for value in RATINGS]
    if found != expected or found_ratings != [ratings[value] for value in RATINGS]:
        yield f"statistics of {account_id}: {found} {found_ratings}, not {expected} {ratings}"


def run(number: int, seed: int) -> tuple[list[str], FeedWorld, Simulation]:
    """Run the campaign of a seed. Return the broken rules."""
    simulation = Simulation(seed, NO_FAULTS, queues)
    with installed(simulation), pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "REMINDER_DELAYS_S", [REMINDER_DELAY_S])
        world = FeedWorld(simulation)
        patch.setattr(webhooks, "post", world.post)
        webhooks.circuit_breaker.close_all()
        simulation.rates = rates(simulation.random)
        work(simulation, world, lambda: len(world.record.submitted) >= number)
        rest(simulation)
        simulation.now += 600  # A recount ignores records of clocks that are ahead.
        return list(differences(world, simulation)), world, simulation


def main(number: int, seed: int = 1) -> int:
    """Run the campaign, print its numbers, and return 1 if a rule is broken."""
    with without_log():
        broken, world, simulation = run(number, seed)
    rows = simulation.tables.rows("feedback").values()
    documents = [row for row in rows if "anonymized_at" in row]
    lines = [
        *broken[:50],
        f"{number} feedback records, {len(world.deleted)} deleted, {len(documents)} anonymized,"
        f" {sum('is_test' in row for row in rows)} marked, {len(world.record.erasures)} erasures",
        f"{simulation.number} AWS requests, {sum(r.pages for r in world.readers)} pages of"
        f" {len(world.readers)} readers, {sum(r.removed for r in world.readers)} removals",
        f"faults: {dict(sorted(simulation.faults.items()))}",
        f"{len(broken)} differences",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return min(1, len(broken))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
