"""Measure concurrent creates of customers of one account, and the processing of feedback.

Two processes create the customers, because Lambda runs each request in its own process, and two
processes use two cores. This process assigns positions, as the function does on AWS.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any, Final

import boto3

from benchmarks import sample_account
from benchmarks.measurement import Measurement, measured
from benchmarks.memory_cloud import connected_process, running_cloud
from benchmarks.queue_functions import invoke
from benchmarks.report import Section, Table, met
from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer, FormKind
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.paging import MAX_LIMIT, PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK, LISTING
from chalicelib.services.customers import assign_positions
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import list_customers
from chalicelib.services.feedback import process
from chalicelib.settings import settings
from chalicelib.storage import feedback

PROCESSES: Final = 2
ADDED_MS: Final = 10
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
    creates: dict[str, dict[str, Any]] = {}
    for name in _WORK:
        with running_cloud() as cloud, connected_process(cloud) as process:
            creates[name] = process.submit(_measure, name, cloud).result()
    burst, sustained, respondents = (
        creates[name] for name in ("customers at once", "customers, sustained", "new respondents")
    )
    seconds = RESPONDENTS / respondents["per second"]
    targets = {
        "no create is rejected": not any(run["rejected"] for run in creates.values()),
        f"of {BURST} at once, none takes longer than {MAX_SECONDS:.0f} s": burst["slowest ms"]
        <= MAX_SECONDS * 1000,
        f"at least {MIN_CREATES_PER_SECOND} customers a second, sustained": sustained["per second"]
        >= MIN_CREATES_PER_SECOND,
        f"{RESPONDENTS:,} respondents within {MAX_RESPONDENTS_SECONDS} s": seconds
        <= MAX_RESPONDENTS_SECONDS,
        f"disorder of at most {MAX_DISORDER_S:.0f} s": all(
            run["disorder, s"] <= MAX_DISORDER_S for run in creates.values()
        ),
    }
    return Section(
        "Concurrent creates",
        [
            f"Customers created concurrently on one account, in {PROCESSES} processes, because"
            " Lambda runs each request in its own process. Another process assigns the positions,"
            " as its function does. A further process responds to AWS requests: it keeps the tables"
            " and the queues in memory, and applies all conditions. Each request waits"
            f" {ADDED_MS} ms. Botocore signs the requests and parses the responses; only its HTTP"
            " exchange is replaced. 'At once' starts one thread for each create, 'sustained' uses"
            f" {SUSTAINED_THREADS} threads. Feedback is processed in batches of"
            f" {FEEDBACK.batch_size}, as many batches at a time as the function has invocations;"
            " the times are those of a batch. The submissions have a distance of a millisecond."
            " 'CPU' is the CPU time for each record, first of the processes that create customers,"
            " then of the process that assigns positions: if both cores do nothing else, they"
            " create at most 2,000 ms divided by this sum, in records a second."
            " 'Listed after' is the time from the last create until all customers are in the list."
            " Every run checks that each customer is listed"
            " once. 'Disorder' is the longest time by which a customer precedes an older one.",
            Table(_COLUMNS, [tuple(run.values()) for run in creates.values()]),
            f"Targets: {met(targets)}.",
        ],
    )


def _measure(name: str, cloud: Path) -> dict[str, Any]:
    """Run the work in processes, while this process assigns positions. Return a report row."""
    work = _WORK[name]
    account = _open_account()
    with ExitStack() as running:
        creators = [running.enter_context(connected_process(cloud)) for _ in range(PROCESSES)]

        def call_all(function: Callable[..., Any]) -> list[Any]:
            shares = [range(n, work.count // work.items, PROCESSES) for n in range(PROCESSES)]
            calls = [
                process.submit(function, name, account, numbers)
                for process, numbers in zip(creators, shares, strict=True)
            ]
            return [call.result() for call in calls]

        call_all(_prepare)
        with measured(ADDED_MS) as listing, _listing():
            shares: list[tuple[Measurement, list[float | None]]] = call_all(_create)
            ended = max(share.started + share.seconds for share, _ in shares)
            latencies = [latency for _, latencies in shares for latency in latencies]
            rejected = latencies.count(None)
            created = work.count - rejected if work.customers else 0
            _wait_until_listed(account.id, created)
            listed_s = time.perf_counter() - ended
    seconds = ended - min(share.started for share, _ in shares)
    done_ms = [latency * 1000 for latency in latencies if latency is not None]
    cpu_ms = (each * 1000 / work.count for each in (sum(s.cpu_s for s, _ in shares), listing.cpu_s))
    requests = len(listing.requests) + sum(len(share.requests) for share, _ in shares)
    cells = (
        name,
        work.count,
        rejected,
        (work.count - rejected) / seconds,
        median(done_ms),
        max(done_ms),
        " + ".join(f"{each:.2f}" for each in cpu_ms),
        listed_s,
        requests / work.count,
        _disorder(_list_all(account.id, created)).total_seconds(),
    )
    return dict(zip(_COLUMNS, cells, strict=True))


def _prepare(name: str, account: _Account, numbers: Sequence[int]) -> None:
    """Store the records to process, and do the same work for another account to warm up."""
    work = _WORK[name]
    warm_up, threads = _open_account(), -(-work.threads // PROCESSES)
    with ThreadPoolExecutor(threads) as pool:
        for target, prepared in ((warm_up, range(threads)), (account, numbers)):
            list(pool.map(partial(work.prepare, target), prepared))
        list(pool.map(partial(work.run, warm_up), range(threads)))


def _create(
    name: str, account: _Account, numbers: Sequence[int]
) -> tuple[Measurement, list[float | None]]:
    """Do the work with these numbers in this process. Return None for each rejected create."""
    work = _WORK[name]

    def timed(number: int) -> float | None:
        started = time.perf_counter()
        try:
            work.run(account, number)
        except Unavailable:
            return None
        return time.perf_counter() - started

    threads = -(-work.threads // PROCESSES)
    with measured(ADDED_MS) as measurement, ThreadPoolExecutor(threads) as pool:
        latencies = list(pool.map(timed, numbers))
    return measurement, latencies


@contextmanager
def _listing() -> Iterator[None]:
    """Process the messages of the listing queue in a thread, for the time of a ``with`` block.

    Earlier messages are about the account of the warm-up. They are deleted, because this thread
    processes one message at a time, while the function processes those of several accounts.
    """
    sqs: Any = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName=settings().resource_name(LISTING.name))["QueueUrl"]
    sqs.receive_message(QueueUrl=queue)
    stop = Event()

    def process_messages() -> None:
        while not stop.is_set():
            messages = sqs.receive_message(QueueUrl=queue).get("Messages", [])
            for message in messages:
                assert not invoke(assign_positions.WORKER, [message["Body"]])
            if not messages:
                time.sleep(0.05)

    thread = Thread(target=process_messages)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _open_account() -> _Account:
    account_id, form_id = sample_account.with_contact_form()
    return _Account(account_id, form_id, clock.now())


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
    ids = [_feedback_id(account.form_id, number) for number in _numbers(batch)]
    pointers = [FeedbackPointer(account.id, each) for each in ids]
    assert not invoke(process.WORKER, list(map(encode, pointers)))


def _numbers(batch: int) -> range:
    return range(batch * FEEDBACK.batch_size, (batch + 1) * FEEDBACK.batch_size)


def _feedback_id(form_id: str, number: int) -> str:
    return derived_id(form_id, str(number))


def respondent_feedback(account_id: str, form_id: str, number: int) -> Feedback:
    """Build a feedback record of a new respondent, without storing it."""
    email = Answer(
        field_id=new_id(), key="mail", type="EMAIL", values=[f"guest-{number}@example.com"]
    )
    return Feedback.model_validate(
        {
            "id": _feedback_id(form_id, number),
            "account_id": account_id,
            "kind": FormKind.CONTACT_FORM,
            "form_id": form_id,
            "form_version": "0" * 32,
            "language": "fr",
            "source": "Site",
            "context_id": form_id,
            "answers": (email,),
            "rating": 9,
            "created_at": clock.now(),
        }
    )


def _wait_until_listed(account_id: str, count: int) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while list_customers(account_id, PageRequest(limit=1)).meta.total_items < count:
        assert time.monotonic() < deadline, "not all customers are listed"
        time.sleep(0.1)


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
    newest, disorder = datetime.min.replace(tzinfo=UTC), timedelta()
    for customer in listed:
        newest = max(newest, customer.created_at)
        disorder = max(disorder, newest - customer.created_at)
    return disorder


_in_batches: Final = partial(
    _Work, threads=FEEDBACK.max_concurrency, run=_process_batch, items=FEEDBACK.batch_size
)
_WORK: Final = {
    "customers at once": _Work(BURST, BURST, _create_customer),
    "customers, sustained": _Work(SUSTAINED, SUSTAINED_THREADS, _create_customer),
    "new respondents": _in_batches(RESPONDENTS, prepare=partial(_store_batch, has_email=True)),
    "feedback": _in_batches(FEEDBACKS, prepare=_store_batch, customers=False),
}
