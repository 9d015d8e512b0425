"""A campaign about the feed of feedback: several readers copy it while feedback changes.

Usage: ``python -m tests.campaign.feed NUMBER [SEED]``. It submits this number of feedback records
to two accounts, with faults. Operators mark and delete records, the sweeper anonymizes old ones,
and customers are erased. In the end, each copy and the statistics must be equal to
the store.
"""

import sys
from collections.abc import Callable
from typing import Final

import pytest

import tests.conftest  # noqa: F401 - sets the environment before the project is imported
from admin.services.accounts.settings import change_account_settings
from chalicelib.services.webhooks import send as webhooks
from tests.campaign import invariants
from tests.campaign.campaign import queues, rates, rest, work
from tests.campaign.partners import PartnerWorld
from tests.campaign.simulation import NO_FAULTS, Simulation, installed, without_log
from tests.campaign.world import Account

_RETENTION_DAYS: Final = 1


class FeedWorld(PartnerWorld):
    """Respondents, operators and readers of the feed."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation, has_accidents=False)
        change_account_settings(self.accounts[0].id, {"retentionDays": _RETENTION_DAYS}, "x")

    def actions(self) -> list[tuple[Callable[[Account], object], int]]:
        """Return the actions of participants, each with its weight."""
        return [(self.submit_form, 20), (self.change_feedback, 5), (self.read, 9), (self.erase, 1)]


def run(number: int, seed: int) -> tuple[list[str], FeedWorld, Simulation]:
    """Run the campaign of a seed. Return the broken rules."""
    simulation = Simulation(seed, NO_FAULTS, queues)
    with installed(simulation), pytest.MonkeyPatch.context() as patch:
        world = FeedWorld(simulation)
        patch.setattr(webhooks, "post", world.post)
        webhooks.circuit_breaker.close_all()
        simulation.rates = rates(simulation.random)
        work(simulation, world, lambda: len(world.record.submitted) >= number)
        rest(simulation)
        broken = [*world.record.violations, *invariants.broken(simulation, world)]
        return broken, world, simulation


def main(number: int, seed: int = 1) -> int:
    """Run the campaign, print its numbers, and return 1 if a rule is broken."""
    with without_log():
        broken, world, simulation = run(number, seed)
    rows = simulation.tables.rows("feedback").values()
    documents = [row for row in rows if "anonymized_at" in row]
    lines = [
        *broken[:50],
        f"{number} feedback records, {len(world.record.deleted)} deleted,"
        f" {len(documents)} anonymized,"
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
