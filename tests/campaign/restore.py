"""Restore the tables of a campaign to an earlier time, with the steps of the runbook."""

import json
from dataclasses import dataclass, replace
from typing import Final

from admin.services.erasure.replay import replay_erasures
from chalicelib.domain.feedback.feedback import feedback_id_of
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.storage.feedback_changes import EPOCH
from infrastructure.restore import NOT_PURGED, NOT_RESTORED
from tests.aws.tables import Item, Key
from tests.campaign.partners import PartnerWorld
from tests.campaign.simulation import NO_FAULTS, Mail

_DURATION_S: Final = 3_600


@dataclass(frozen=True)
class Backup:
    """The rows of all tables that a restore replaces, and what had happened at that time."""

    rows: dict[str, dict[Key, Item]]
    mails: list[Mail]
    posts: list[tuple[str, int | None]]
    batches: list[tuple[str, str, int]]


def back_up(world: PartnerWorld) -> Backup:
    """Return a backup of the current rows."""
    tables, record = world.simulation.tables, world.record
    names = set(tables.names) - NOT_RESTORED
    rows = {name: dict(tables.rows(name)) for name in sorted(names)}
    return Backup(rows, [*world.simulation.mails], [*record.posts], [*record.batches])


def restore(world: PartnerWorld, backup: Backup) -> None:
    """Stop the stage, restore the tables, repeat the erasures, and start the stage."""
    simulation = world.simulation
    simulation.finish()
    rates, simulation.rates = simulation.rates, NO_FAULTS
    throttled_until, simulation.throttled_until = simulation.throttled_until, 0.0
    simulation.now += _DURATION_S
    for name, rows in backup.rows.items():
        simulation.tables.restore(name, rows)
    epoch = {"account_id": EPOCH, "number": EPOCH, "epoch": f"epoch {simulation.number}"}
    row = {name: {"S": value} for name, value in epoch.items()}
    simulation.tables.replace("feedback-changes", (EPOCH, EPOCH), row)
    simulation.tables.apply_lag()
    kept = {queue.name for queue in NOT_PURGED}
    for queue in simulation.queues.values():
        if queue.name not in kept:
            queue.messages.clear()
    world.new_process()
    _forget(world, backup)
    replay_erasures(lambda _: None)
    simulation.rates, simulation.throttled_until = rates, throttled_until
    world.repair_restored()


def _forget(world: PartnerWorld, backup: Backup) -> None:
    """Remove from the record of the campaign what the service does not know any more."""
    simulation, record = world.simulation, world.record
    tables = simulation.tables
    simulation.mails[:] = backup.mails
    record.posts, record.batches = [*backup.posts], [*backup.batches]
    record.versions.clear()
    record.send_at.clear()
    record.ended.clear()
    world.links.clear()
    world.moved.clear()
    waiting = [json.loads(message.body) for message in simulation.queues["purchases"].messages]
    kept = {key for (key,) in tables.rows("solicitations")}
    kept |= {
        purchase_id(each["accountId"], "Site", each["purchase"]["externalId"]) for each in waiting
    }
    record.purchases = [each for each in record.purchases if each[1] in kept]
    feedback = tables.rows("feedback")
    sent = {feedback_id for (feedback_id,), row in feedback.items() if "saves" not in row}
    record.submitted = [each for each in record.submitted if each in sent]
    record.deleted = {each for each in record.deleted if (each,) not in feedback}
    record.tapped = {each for each in record.tapped if (feedback_id_of(each),) in feedback}
    words = frozenset(world.words_in("customers", "purchases"))
    record.erasures = [replace(each, stored=each.stored | words) for each in record.erasures]
    for reader in world.readers:
        reader.may_restart = reader.cursor is not None
