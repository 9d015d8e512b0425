"""The rules that hold when the service has had time to finish its work."""

import json
from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import Final

from admin.services.recount.recount import recount
from chalicelib.domain.feedback.feedback import feedback_id_of
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.work import MAX_CLAIMS
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage.erasures import erasure_id
from tests.aws.tables import Item, Tables
from tests.campaign.partners import PartnerWorld, wrong_copies
from tests.campaign.simulation import Simulation
from tests.campaign.world import NOT_PERSONAL, World, text_of

_REMOVAL: Final = frozenset(
    "account_id changed_at customer_id expires_at key part removed revision".split()
)
"""The attributes of a contact that tells partners that a customer was removed."""


def due_times(tables: Tables) -> Iterator[float]:
    """Yield the due time of all unfinished work, in epoch seconds."""
    for name, row in tables.all_rows():
        if "work_shard" in row and row["work_shard"]["S"] != "parked":
            due_at = int(row["due_at"]["N"])
            yield due_at / 1000 if name == "customers" else due_at


def broken(simulation: Simulation, world: PartnerWorld) -> Iterator[str]:
    """Describe the broken rules."""
    yield from _stuck(simulation, world)
    yield from _left_in_queues(simulation)
    yield from _miscounted(world)
    yield from _lost(simulation, world)
    yield from _outdated(simulation, world)
    yield from _undelivered(simulation, world)
    yield from _unsuppressed(simulation, world)
    yield from _not_erased(simulation, world)
    yield from wrong_copies(world)
    for customer in world.moved:
        yield from customer.violations(simulation)


def _stuck(simulation: Simulation, world: World) -> Iterator[str]:
    for name, row in simulation.tables.all_rows():
        if "work_shard" not in row:
            continue
        if row["work_shard"]["S"] != "parked":
            yield f"unfinished: {name} {_short(row)}"
        elif int(row.get("claims", {"N": "0"})["N"]) < MAX_CLAIMS or "reason" not in row:
            yield f"parked without eight failures and a reason: {name} {_short(row)}"
        elif not world.has_accidents:
            yield f"parked: {name} {_short(row)}"


def _left_in_queues(simulation: Simulation) -> Iterator[str]:
    for queue in simulation.queues.values():
        for message in queue.messages:
            yield f"left in the queue {queue.name}: {message.body[:200]}"
        for body in queue.dead:
            if not _is_of_erased_mail(simulation, queue.name, body):
                yield f"dead letter of {queue.name}: {body[:200]}"


def _is_of_erased_mail(simulation: Simulation, queue: str, body: str) -> bool:
    """Return whether a message is the event of an e-mail that an erasure made unknown.

    Only the stored id of the e-mail names its account. The event is dropped at its last receive, or
    it becomes a dead letter if this receive is killed.
    """
    if queue != "message-events" or not (mail := json.loads(body)["mail"])["headersTruncated"]:
        return False
    return (mail["messageId"],) not in simulation.tables.rows("messages")


def _miscounted(world: World) -> Iterator[str]:
    for account in world.accounts:
        if world.has_accidents:
            continue
        for difference in recount(account.id, fix=False):
            yield f"miscounted: {difference}"
    for account_id, import_id, row_count in world.record.batches:
        progress = read_import(account_id, import_id)
        counted = progress.created + progress.filled + progress.unchanged + progress.failed
        if (
            progress.status != "COMPLETED"
            or counted != row_count
            or row_count != progress.row_count
        ):
            yield f"import {import_id}: {progress.status} {counted} of {row_count} rows"


def _lost(simulation: Simulation, world: World) -> Iterator[str]:
    feedback = simulation.tables.rows("feedback")
    for feedback_id in set(world.record.submitted) - world.record.deleted:
        if (feedback_id,) not in feedback:
            yield f"feedback {feedback_id} is lost"
    solicitations = simulation.tables.rows("solicitations")
    for account_id, purchase_id in world.record.purchases:
        if (f"{account_id}#{purchase_id}",) not in simulation.tables.rows("purchases"):
            yield f"purchase {purchase_id} is lost"
        if (purchase_id,) not in solicitations:
            yield f"purchase {purchase_id} has no solicitation"
    for tracker_id in world.record.tapped:
        feedback_id = feedback_id_of(tracker_id)
        if feedback_id not in world.record.deleted and (feedback_id,) not in feedback:
            yield f"the tap of the tracker {tracker_id} is lost"
    for (feedback_id,), row in feedback.items():
        document = json.loads(text_of(row["document"]))
        if document.get("isPartial") and feedback_id in world.record.submitted:
            yield f"feedback {feedback_id} was sent, and is only what was tapped"
        if document.get("isPartial") and {a["key"] for a in document["answers"]} != {"nps"}:
            yield f"feedback {feedback_id} contains more than what was tapped"
    documents = [json.loads(text_of(row["document"])) for row in feedback.values()]
    trackers = Counter(document.get("trackerId") for document in documents)
    for tracker_id, number in trackers.items():
        if tracker_id and number > 1:
            yield f"{number} answers with the tracker {tracker_id}"


def _outdated(simulation: Simulation, world: World) -> Iterator[str]:
    """Describe purchases that are not stored as in their newest version."""
    erased = world.record.erased_people
    for account_id, record_id in dict.fromkeys(world.record.purchases):
        versions = world.record.versions.get(record_id, [])
        known_from = max((v.first for v in versions if v.is_accepted), default=inf)
        newest = [v for v in versions if v.last >= known_from]
        emails = {version.definition["customer"]["email"] for version in versions}
        if not newest or any(erased & {world.person_of(email)} for email in emails):
            continue
        row = simulation.tables.rows("purchases")[(f"{account_id}#{record_id}",)]
        text, words = " ".join(map(text_of, row.values())), [v.word for v in newest]
        if not any(word in text for word in words):
            yield f"purchase {record_id}: not {words} but {text}"


def _undelivered(simulation: Simulation, world: World) -> Iterator[str]:
    executions = simulation.tables.rows("executions")
    accepted = {execution_id for execution_id, status in world.record.posts if status == 200}
    requests = Counter(execution_id for execution_id, _ in world.record.posts)
    attempts = Counter(key[0] for key in executions if key[1].startswith("attempt#"))
    with_webhook = set()
    for (execution_id, part), row in executions.items():
        if part != "execution":
            continue
        with_webhook.add(row["feedback_id"]["S"])
        if row["state"]["S"] == "SUCCEEDED" and execution_id not in accepted:
            yield f"webhook {execution_id} succeeded without a request"
        if row["state"]["S"] not in ("SUCCEEDED", "FAILED", "PARKED"):
            yield f"webhook {execution_id} is {row['state']['S']}"
        if requests[execution_id] > attempts[execution_id]:
            yield f"webhook {execution_id}: {requests[execution_id]} requests, but fewer attempts"
    for (feedback_id,), row in simulation.tables.rows("feedback").items():
        if row["state"]["S"] == "DONE" and feedback_id not in with_webhook:
            yield f"feedback {feedback_id} has no webhook"


def _unsuppressed(simulation: Simulation, world: World) -> Iterator[str]:
    contacts = simulation.tables.rows("contacts")
    known = simulation.tables.rows("messages")
    for mail, has_headers in world.record.bounced:
        # Without headers, the event of a message whose id was never stored expires.
        if not has_headers and (mail.message_id,) not in known:
            continue
        person = world.recipient(mail)
        keys = [
            current_keys(person.account.id, email, None)[Channel.EMAIL] for email in person.emails
        ]
        if not any("suppressed_email" in contacts.get((key or "",), {}) for key in keys):
            yield f"bounce of {mail.to} is lost"
    for account_id, address, channel in world.record.banned | world.record.opted_out:
        person = world.person_of(address)
        if channel == "EMAIL":
            key = current_keys(account_id, person.address, None)[Channel.EMAIL]
            if "suppressed_email" not in contacts.get((key or "",), {}):
                yield f"{address} is not suppressed"


def _lists_removal(row: Item) -> bool:
    """Return whether a row tells partners only that a customer was removed."""
    return "removed" in row and row.keys() <= _REMOVAL


def _not_erased(simulation: Simulation, world: World) -> Iterator[str]:
    texts = [
        (name, " ".join(map(text_of, row.values())))
        for name, row in simulation.tables.all_rows()
        if name not in NOT_PERSONAL and not _lists_removal(row)
    ]
    erasures = simulation.tables.rows("erasures")
    words = world.personal_words()
    processed = world.words_in("customers", "purchases")
    for erasure in world.record.erasures:
        account_id = erasure.person.account.id
        stored = erasures.get((erasure_id(account_id, erasure.customer_id),))
        if stored and world.has_accidents and stored["state"]["S"] == "PARKED":
            continue
        if stored is None or stored["state"]["S"] != "DONE":
            yield f"erasure of {erasure.customer_id} has not ended"
            continue
        if (f"{account_id}#{erasure.customer_id}",) not in simulation.tables.rows("customers"):
            linked = {name for name, text in texts if erasure.customer_id in text}
            if linked:
                yield f"{linked} name the erased customer {erasure.customer_id}"
        yield from world.remains_of(erasure, words)
        yield from world.stored_after(erasure, processed)


def _short(row: Item) -> str:
    names = ("part", "state", "claims", "deferrals", "reason", "due_at")
    keys = [next(iter(value.values())) for value in list(row.values())[:1]]
    values = {name: next(iter(row[name].values())) for name in names if name in row}
    return f"{keys} {values}"
