"""Measure concurrent creates of customers of one account, and the processing of feedback.

Two processes create the customers, because Lambda runs each request in its own process, and two
processes use two cores. A further process assigns positions, as the function does on AWS.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any, Final

from benchmarks.measurement import Measurement, measured
from benchmarks.memory_cloud import connected_process, running_cloud
from benchmarks.queue_functions import invoke, received
from benchmarks.report import Section, Table, met
from benchmarks.sample_account import feedback_id, respondent_feedback, with_contact_form
from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.domain.paging import MAX_LIMIT, PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK, LISTING
from chalicelib.services.customers import assign_positions
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import list_customers
from chalicelib.services.feedback import process
from chalicelib.storage import feedback
from tests.waiting import wait_until

PROCESSES: Final = 2
LATENCY_MS: Final = 10
BURST: Final = 200
SUSTAINED: Final = 3_000
SUSTAINED_THREADS: Final = 50
RESPONDENTS: Final = 53 * FEEDBACK.batch_size
FEEDBACKS: Final = 106 * FEEDBACK.batch_size

MAX_SECONDS: Final = 2.0
"""Target: the maximum duration of one create in the burst."""
MIN_CREATES_PER_SECOND: Final = 400
MAX_RESPONDENTS_SECONDS: Final = 60
MAX_DISORDER_S: Final = 1.0
"""Target: the maximum difference in age between a customer and an older one that follows it."""
_TIMEOUT_S: Final = 120
"""The maximum time in seconds to wait for the list."""


@dataclass(frozen=True)
class _Account:
    id: str
    form_id: str
    opened_at: datetime


@dataclass(frozen=True)
class _Work:
    """One kind of work.

    Attributes:
        count: the number of records, a multiple of ``items``.
        threads: the number of concurrent calls of ``run``.
        run: does the work with this number.
        prepare: stores the records that ``run`` processes. It is not measured.
        items: the number of records of one call of ``run``.
        customers: whether each record creates a customer.
    """

    count: int
    threads: int
    run: Callable[[_Account, int], None]
    prepare: Callable[[_Account, int], object] = lambda *_: None
    items: int = 1
    customers: bool = True


_COLUMNS: Final = {
    "creates": "",
    "number": ",",
    "rejected": "",
    "per second": ",.0f",
    "p50 ms": ",.0f",
    "slowest ms": ",.0f",
    "CPU ms": "",
    "listed after, s": ".1f",
    "requests each": ".1f",
    "disorder, s": ".2f",
}


def measure() -> Section:
    """Measure each kind of work with new processes. Return a section of the report."""
    runs: dict[str, dict[str, Any]] = {}
    for name in _WORK:
        with running_cloud(LATENCY_MS) as cloud, connected_process(cloud) as process:
            runs[name] = process.submit(_measure, name, cloud).result()
    burst, sustained, respondents, _ = runs.values()
    respondents_s = RESPONDENTS / respondents["per second"]
    targets = {
        "no create is rejected": not any(run["rejected"] for run in runs.values()),
        f"of {BURST} at once, none takes longer than {MAX_SECONDS:.0f} s": burst["slowest ms"]
        <= MAX_SECONDS * 1000,
        f"at least {MIN_CREATES_PER_SECOND} customers a second, sustained": sustained["per second"]
        >= MIN_CREATES_PER_SECOND,
        f"{RESPONDENTS:,} respondents within {MAX_RESPONDENTS_SECONDS} s": respondents_s
        <= MAX_RESPONDENTS_SECONDS,
        f"disorder of at most {MAX_DISORDER_S:.0f} s": all(
            run["disorder, s"] <= MAX_DISORDER_S for run in runs.values()
        ),
    }
    return Section(
        "Concurrent creates",
        [
            f"Customers created concurrently on one account, in {PROCESSES} processes, because"
            " Lambda runs each request in its own process. Another process assigns the positions,"
            " as its function does. A further process responds to AWS requests: it keeps the tables"
            " and the queues in memory, and applies all conditions. Each request takes"
            f" {LATENCY_MS} ms, in which other writes of the rows of a transaction conflict, as in"
            " DynamoDB. Botocore signs the requests and parses the responses; only its HTTP"
            " exchange is replaced. 'At once' starts one thread for each create, 'sustained' uses"
            f" {SUSTAINED_THREADS} threads. Feedback is processed in batches of"
            f" {FEEDBACK.batch_size}, as many batches at a time as the function has invocations;"
            " the times are those of a batch. The submissions have a distance of a millisecond."
            " 'CPU' is the CPU time for each record, first of the processes that create customers,"
            " then of the process that assigns positions: if both cores do nothing else, they"
            " create at most 2,000 ms divided by this sum, in records a second. 'Listed after' is"
            " the time from the last create until all customers are in the list. Every run checks"
            " that each customer is listed once. 'Disorder' is the longest time by which a customer"
            " precedes an older one.",
            Table(_COLUMNS, [tuple(run.values()) for run in runs.values()]),
            f"Targets: {met(targets)}.",
        ],
    )


def _measure(name: str, cloud: Path) -> dict[str, Any]:
    """Run the work in processes, while this process assigns positions. Return a report row."""
    work, account = _WORK[name], _open_account()
    with connected_process(cloud) as first, connected_process(cloud) as second:

        def in_processes(function: Callable[..., Any]) -> list[Any]:
            shares = [range(n, work.count // work.items, PROCESSES) for n in range(PROCESSES)]
            processes: list[ProcessPoolExecutor] = [first, second]
            calls = [
                process.submit(function, name, account, share)
                for process, share in zip(processes, shares, strict=True)
            ]
            return [call.result() for call in calls]

        in_processes(_prepare)
        with measured() as listing, _assigning_positions():
            shares: list[tuple[Measurement, list[float | None]]] = in_processes(_create)
            ended = max(share.started + share.seconds for share, _ in shares)
            latencies_ms = [latency for _, latencies in shares for latency in latencies]
            done_ms = [latency for latency in latencies_ms if latency is not None]
            rejected = len(latencies_ms) - len(done_ms)
            customers = work.count - rejected if work.customers else 0
            wait_until(lambda: _is_listed(account.id, customers), _TIMEOUT_S, pause_s=0.1)
            listed_s = time.perf_counter() - ended
    costs = [share for share, _ in shares]
    cpu_ms = [each * 1000 / work.count for each in (sum(c.cpu_s for c in costs), listing.cpu_s)]
    cells = (
        name,
        work.count,
        rejected,
        (work.count - rejected) / (ended - min(cost.started for cost in costs)),
        median(done_ms),
        max(done_ms),
        " + ".join(f"{each:.2f}" for each in cpu_ms),
        listed_s,
        sum(len(cost.requests) for cost in [listing, *costs]) / work.count,
        _disorder(_list_all(account.id, customers)).total_seconds(),
    )
    return dict(zip(_COLUMNS, cells, strict=True))


def _prepare(name: str, account: _Account, numbers: Sequence[int]) -> None:
    """Store the records to process, and do the same work for another account to warm up."""
    work = _WORK[name]
    warm_up, threads = _open_account(), work.threads // PROCESSES + 1
    for target, prepared in ((warm_up, range(threads)), (account, numbers)):
        map_concurrently(partial(work.prepare, target), prepared, threads)
    map_concurrently(partial(work.run, warm_up), range(threads), threads)


def _create(
    name: str, account: _Account, numbers: Sequence[int]
) -> tuple[Measurement, list[float | None]]:
    """Do the work with these numbers in this process.

    Return the duration of each create in milliseconds, or None if it is rejected.
    """
    work = _WORK[name]

    def timed(number: int) -> float | None:
        started = time.perf_counter()
        try:
            work.run(account, number)
        except Unavailable:
            return None
        return (time.perf_counter() - started) * 1000

    with measured() as measurement:
        latencies_ms = map_concurrently(timed, numbers, -(-work.threads // PROCESSES))
    return measurement, latencies_ms


@contextmanager
def _assigning_positions() -> Iterator[None]:
    """Process the messages of the listing queue in a thread, for the time of a ``with`` block.

    Earlier messages are about the account of the warm-up. They are deleted, because this thread
    processes one message at a time, while the function processes those of several accounts.
    """
    list(received(LISTING))
    stop = Event()

    def process_messages() -> None:
        while not stop.wait(0.05):
            for bodies in received(LISTING):
                for body in bodies:
                    invoke(assign_positions.WORKER, [body])

    thread = Thread(target=process_messages)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _open_account() -> _Account:
    return _Account(*with_contact_form(), clock.now())


def create_one(account_id: str, number: int) -> None:
    """Create a customer."""
    body = {"email": f"customer-{number}@example.com", "firstName": f"Zoé {number}"}
    create_customer(account_id, parse(body, CustomerBody))


def _create_customer(account: _Account, number: int) -> None:
    create_one(account.id, number)


def _store_batch(account: _Account, batch: int, *, has_email: bool = False) -> None:
    """Store a batch of feedback, with one submission in each millisecond."""
    for number in _numbers(batch):
        record = respondent_feedback(account.id, account.form_id, number)
        created_at = account.opened_at + timedelta(milliseconds=number)
        answers = record.answers if has_email else ()
        update = {"answers": answers, "created_at": created_at}
        feedback.create(record.model_copy(update=update), None)


def _process_batch(account: _Account, batch: int) -> None:
    ids = [feedback_id(account.form_id, number) for number in _numbers(batch)]
    invoke(process.WORKER, [encode(FeedbackPointer(account.id, each)) for each in ids])


def _numbers(batch: int) -> range:
    return range(batch * FEEDBACK.batch_size, (batch + 1) * FEEDBACK.batch_size)


def _is_listed(account_id: str, count: int) -> bool:
    return list_customers(account_id, PageRequest(limit=1)).meta.total_items >= count


def _list_all(account_id: str, count: int) -> list[Customer]:
    """Return the account's customers. Check that each customer is listed once."""
    pages = range(1, -(-count // MAX_LIMIT) + 1)
    listed = [
        customer
        for page in pages
        for customer in list_customers(account_id, PageRequest(limit=MAX_LIMIT, page=page)).items
    ]
    assert len(listed) == len({customer.id for customer in listed}) == count
    return listed


def _disorder(listed: Sequence[Customer]) -> timedelta:
    created = [customer.created_at for customer in listed]
    delays = (newest - at for at, newest in zip(created, accumulate(created, max), strict=True))
    return max(delays, default=timedelta())


_in_batches: Final = partial(
    _Work, threads=FEEDBACK.max_concurrency, run=_process_batch, items=FEEDBACK.batch_size
)
_WORK: Final = {
    "customers at once": _Work(BURST, BURST, _create_customer),
    "customers, sustained": _Work(SUSTAINED, SUSTAINED_THREADS, _create_customer),
    "new respondents": _in_batches(RESPONDENTS, prepare=partial(_store_batch, has_email=True)),
    "feedback": _in_batches(FEEDBACKS, prepare=_store_batch, customers=False),
}
