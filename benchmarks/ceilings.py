"""Compute how many operations a second the hottest key of each table and index allows."""

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any, Final

from benchmarks.create_cost import create_one
from benchmarks.delivery_cost import new_execution
from benchmarks.memory_cloud import MemoryCloud, connect
from benchmarks.report import Section, Table
from benchmarks.sample_account import respondent_feedback, with_contact_form
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.webhooks.execution import Attempt, ExecutionState, Outcome
from chalicelib.services.customers.accept_batch import accept_batch
from chalicelib.services.customers.import_chunk import import_chunk
from chalicelib.services.feedback.process import MAX_BATCH_SIZE, process_feedback
from chalicelib.storage import counters, customer_creation, executions, feedback, imports
from chalicelib.storage.counters import Listed
from chalicelib.web.partner.batch_body import validate_batch
from tests.aws.capacity import Meter, hottest

WRITE_UNITS_PER_KEY: Final = 1_000
"""AWS's limit for the write units per second of one partition key, in tables and in indexes."""
READ_UNITS_PER_KEY: Final = 3_000
"""AWS's limit for the read units per second of one partition key."""

COUNT: Final = 400
"""The number of operations of each kind: enough to use all shards of an account equally."""
_SHOWN_BELOW: Final = 5_000


def ceilings_of(load: Meter, count: int) -> list[tuple[str, str, float, float]]:
    """Compute the ceilings from the load of ``count`` operations. Return the lowest first.

    A ceiling consists of the name of a table or an index, the kind of its units, the units that an
    operation consumes on its hottest key, and the operations per second that this key allows.
    """
    limits = (
        ("write", load.writes, WRITE_UNITS_PER_KEY),
        ("read", load.reads, READ_UNITS_PER_KEY),
    )
    found = [
        (name, kind, total / count, limit * count / total)
        for kind, units, limit in limits
        for name, total in hottest(units).items()
    ]
    return sorted(found, key=itemgetter(3))


def measure() -> Section:
    """Measure the load of each operation on tables in memory. Return a section."""
    rows: list[tuple[Any, ...]] = []
    cloud = MemoryCloud()
    connect(cloud.exchange)
    for name, run in OPERATIONS.items():
        with cloud.metered() as load:
            run(COUNT)
        shown: str | None = name
        for key, kind, units, per_second in ceilings_of(load, COUNT):
            if per_second < _SHOWN_BELOW:
                rows.append((shown, f"`{key}`", kind, units, per_second))
                shown = None
    return Section(
        "Ceilings of one account",
        [
            f"{COUNT} operations of one account on tables in memory. The units of each partition"
            " key are computed by AWS's rules from the items before and after each write, and from"
            " the items that each request reads. The ceiling is the rate at which the hottest key"
            f" reaches AWS's limit of {WRITE_UNITS_PER_KEY:,} write units or"
            f" {READ_UNITS_PER_KEY:,} read units a second.",
            Table(
                {"operation": "", "hottest key of": "", "units": "", "units each": ".2f"}
                | {"ceiling per second": ",.0f"},
                rows,
            ),
        ],
    )


def create_listed(count: int) -> None:
    """Create customers one after the other."""
    account_id = new_id()
    for number in range(count):
        create_one(account_id, number)


def create_unlisted(count: int) -> None:
    """Create customers while the counter is reserved, then assign their positions."""
    account_id = new_id()
    for number in range(count):
        if number % MAX_BATCH_SIZE == 0:
            counters.reserve(account_id, Listed.CUSTOMERS, clock.now())
        create_one(account_id, number)
    keys, total = customer_creation.find_unlisted(account_id), 0
    for start in range(0, count, customer_creation.MAX_ASSIGNED):
        batch = keys[start : start + customer_creation.MAX_ASSIGNED]
        total = customer_creation.assign_positions(account_id, batch, total)


def import_rows(count: int) -> None:
    """Import a batch of new customers."""
    account_id = new_id()
    rows = [{"email": f"row-{n}@example.com", "firstName": "Zoé"} for n in range(count)]
    accepted = accept_batch(account_id, validate_batch({"batch": rows}))
    header = imports.find(accepted.id, clock.now())
    assert header
    for pointer in imports.list_unfinished(header.import_id, header.edition, clock.now()):
        import_chunk(pointer)


def submit(count: int, stores: int = 1) -> None:
    """Store feedback of new respondents and process it in batches.

    Args:
        stores: the number of stores to which the respondents answer in turn.
    """
    account_id, form_id = with_contact_form()
    store_ids = [new_id() for _ in range(stores)]
    for start in range(0, count, MAX_BATCH_SIZE):
        numbers = range(start, min(count, start + MAX_BATCH_SIZE))
        batch = [
            respondent_feedback(account_id, form_id, number).model_copy(
                update={"store_id": store_ids[number % stores]}
            )
            for number in numbers
        ]
        for record in batch:
            feedback.create(record, None)
        process_feedback([record.id for record in batch])


def deliver(count: int) -> None:
    """Create executions, claim them and save their outcomes."""
    account_id, now = new_id(), clock.now()
    created = [new_execution(account_id, new_id(), new_id()) for _ in range(count)]
    executions.create(created)
    for execution in created:
        claim = executions.claim(execution.pointer, now)
        assert claim
        succeeded = Outcome(ExecutionState.SUCCEEDED)
        executions.save_outcome(claim, [Attempt(1, now, status=200)], succeeded, now)


OPERATIONS: Final[dict[str, Callable[[int], None]]] = {
    "create a customer": create_listed,
    "create a customer without a position, and list it": create_unlisted,
    "import a row (time per chunk)": import_rows,
    "store and process feedback (time of storing)": submit,
    "store and process feedback on 100 stores (time of storing)": partial(submit, stores=100),
    "deliver a webhook": deliver,
}
"""Functions that perform the given number of operations of one account."""
