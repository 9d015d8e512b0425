"""Create customers of one account concurrently and print the measurements as JSON.

Usage: ``python -m benchmarks.create_process KIND NUMBER THREADS ADDED_MS``. Two processes create
the customers, because Lambda runs each request in its own process, and two processes use two cores.
A third process assigns positions, as the function does on AWS. A fourth process keeps the tables
and the queues in memory (`benchmarks.memory_cloud`), instead of DynamoDB and SQS.
"""

import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3
from chalice.app import SQSEvent

from benchmarks import sample_account
from benchmarks.memory_cloud import CloudClient, serve
from benchmarks.quiet_log import discard_log
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, CustomerBody
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer, FormKind
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.paging import MAX_LIMIT, PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.functions.assign_positions import assign_positions
from chalicelib.functions.process_feedback import process_feedback
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK, LISTING
from chalicelib.services.accounts.manage import create_account
from chalicelib.services.accounts.save_places import save_brand, save_store
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import list_customers
from chalicelib.services.forms.save import save_contact_form
from chalicelib.services.purchases.record import record_purchase
from chalicelib.services.workflows.manage import save_workflow
from chalicelib.settings import settings
from chalicelib.storage import feedback

PROCESSES: Final = 2
_TIMEOUT_S: Final = 120
"""The maximum time in seconds to wait for the list, and for a process that may have failed."""

_context: Final = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Creates:
    """The measurements of concurrent creates on a new account.

    Attributes:
        count: the number of creates.
        seconds: the time from the first to the last create.
        latencies_s: the duration of each create; for respondents and feedback, of each batch.
        rejected: the number of creates that failed with `Unavailable`.
        listed_s: the time from the last create until all customers are listed.
        requests: the number of AWS requests of the creates and of the worker.
        cpu_s: the CPU time of the processes that create customers.
        listing_cpu_s: the CPU time of the process that assigns positions.
        disorder_s: the maximum difference in age between a customer and an older customer that
            follows it in the list. It is zero if the list is in creation order.
    """

    count: int
    seconds: float
    latencies_s: Sequence[float]
    rejected: int
    listed_s: float
    requests: int
    cpu_s: float
    listing_cpu_s: float
    disorder_s: float

    @property
    def per_second(self) -> float:
        """The throughput per second."""
        return (self.count - self.rejected) / self.seconds


@dataclass(frozen=True)
class _Account:
    id: str
    store_id: str
    form_id: str
    opened_at: datetime


@dataclass(frozen=True)
class _Work:
    """One kind of work.

    Attributes:
        run: does the work with this number.
        prepare: stores the records that ``run`` processes. It is not measured.
        items: the number of records of one call of ``run``.
        customers: whether each record creates a customer.
        workflows: the number of the account's workflows, each with one action.
    """

    run: Callable[[_Account, int], None]
    prepare: Callable[[_Account, int], object] = lambda *_: None
    items: int = 1
    customers: bool = True
    workflows: int = 0


def main(kind: str, count: int, threads: int, added_ms: float) -> None:
    """Run the creates and print the measurements."""
    work = WORK[kind]
    with tempfile.TemporaryDirectory() as folder, discard_log():
        path = Path(folder) / "cloud"
        with _process(serve, path, settings().stage):
            while not path.exists():
                time.sleep(0.01)
            CloudClient(path).install()
            account = _open_account(work)
            print(json.dumps(asdict(_measure(path, kind, account, count, threads, added_ms))))


def _measure(
    path: Path, kind: str, account: _Account, count: int, threads: int, added_ms: float
) -> Creates:
    work, results, listing = WORK[kind], _context.Queue(), _context.Queue()
    ready, stop = _context.Barrier(PROCESSES), _context.Event()
    with _process(_list, path, added_ms, stop, listing):
        for process in range(PROCESSES):
            numbers = range(process, count // work.items, PROCESSES)
            arguments = (path, added_ms, kind, account, numbers, -(-threads // PROCESSES))
            _context.Process(target=_create, args=(*arguments, ready, results), daemon=True).start()
        done = [results.get(timeout=_TIMEOUT_S) for _ in range(PROCESSES)]
        ended = max(each["ended"] for each in done)
        latencies = [latency for each in done for latency in each["latencies"]]
        rejected = sum(each["rejected"] for each in done)
        created = count - rejected if work.customers else 0
        listed = _wait_until_listed(account.id, created)
        listed_s = time.perf_counter() - ended
        stop.set()
        listing_cpu_s, listing_requests = listing.get(timeout=_TIMEOUT_S)
    return Creates(
        count,
        ended - min(each["started"] for each in done),
        latencies,
        rejected,
        listed_s,
        sum(each["requests"] for each in done) + listing_requests,
        sum(each["cpu_s"] for each in done),
        listing_cpu_s,
        _disorder(listed).total_seconds(),
    )


def _create(
    path: Path,
    added_ms: float,
    kind: str,
    account: _Account,
    numbers: Sequence[int],
    threads: int,
    ready: Any,
    results: Any,
) -> None:
    """Do the work with these numbers in a process."""
    CloudClient(path, added_ms).install()
    warm_up = _open_account(WORK[kind])
    requests = rejected = 0
    latencies: list[float] = []

    def timed(number: int) -> tuple[float | None, int]:
        started = time.perf_counter()
        with counted_calls() as calls:
            try:
                WORK[kind].run(account, number)
            except Unavailable:
                return None, calls.total()
        return time.perf_counter() - started, calls.total()

    with discard_log(), ThreadPoolExecutor(threads) as pool:
        for target, prepared in ((warm_up, range(threads)), (account, numbers)):
            list(pool.map(partial(WORK[kind].prepare, target), prepared))
        list(pool.map(partial(WORK[kind].run, warm_up), range(threads)))
        ready.wait(_TIMEOUT_S)
        started, cpu = time.perf_counter(), time.process_time()
        for latency, calls in pool.map(timed, numbers):
            requests += calls
            if latency is None:
                rejected += 1
            else:
                latencies.append(latency)
        ended, cpu_s = time.perf_counter(), time.process_time() - cpu
    results.put(
        {
            "started": started,
            "ended": ended,
            "latencies": latencies,
            "rejected": rejected,
            "requests": requests,
            "cpu_s": cpu_s,
        }
    )


def _list(path: Path, added_ms: float, stop: Any, result: Any) -> None:
    """Process the messages of the listing queue until the event is set."""
    CloudClient(path, added_ms).install()
    sqs: Any = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName=settings().resource_name(LISTING.name))["QueueUrl"]
    cpu = time.process_time()
    with discard_log(), counted_calls() as calls:
        while not stop.is_set():
            messages = sqs.receive_message(QueueUrl=queue).get("Messages", [])
            for message in messages:
                _invoke(assign_positions, [message["Body"]])
            if not messages:
                time.sleep(0.05)
    result.put((time.process_time() - cpu, calls.total()))


def _invoke(function: Callable[[SQSEvent], Any], bodies: Sequence[str]) -> None:
    records = [{"messageId": str(number), "body": body} for number, body in enumerate(bodies)]
    response = function(SQSEvent({"Records": records}, None))
    assert not response["batchItemFailures"], response


def _open_account(work: _Work) -> _Account:
    account_id = create_account("Maison Lumen").id
    brand = save_brand(account_id, {"id": new_id(), "name": "Maison Lumen"})
    store = save_store(account_id, {"id": new_id(), "name": "Lyon", "brandId": brand.id})
    definition = sample_account.contact_form(1, brand.id) | {"id": new_id()}
    form = save_contact_form(account_id, definition)
    for number in range(work.workflows):
        action = {"key": "crm", "url": "https://hooks.example.com/", "metadata": {"team": "care"}}
        condition = {"subject": "form", "operator": "$eq", "value": form.id}
        workflow = {"name": f"Workflow {number}", "conditions": [condition], "actions": [action]}
        save_workflow(account_id, workflow | {"id": new_id()})
    return _Account(account_id, store.id, form.id, clock.now())


def create_one(account_id: str, number: int) -> None:
    """Create a customer."""
    body = {"email": f"customer-{number}@example.com", "firstName": f"Zoé {number}"}
    create_customer(account_id, parse(body, CustomerBody))


def _create_by_purchase(account: _Account, number: int) -> None:
    definition = {
        "source": "Site",
        "externalId": str(number),
        "storeId": account.store_id,
        "date": "2026-11-18T19:30:00+01:00",
        "customer": {"email": f"buyer-{number}@example.com", "emailOptin": True},
    }
    record_purchase(account.id, definition)


def _store_batch(account: _Account, batch: int, *, has_email: bool) -> None:
    """Store a batch of feedback, with one submission in each millisecond."""
    for number in _numbers(batch):
        record = respondent_feedback(account.id, account.form_id, number)
        created_at = account.opened_at + timedelta(milliseconds=number)
        answers = record.answers if has_email else ()
        update = {"answers": answers, "created_at": created_at}
        feedback.create(record.model_copy(update=update), None)


def _process_batch(account: _Account, batch: int) -> None:
    ids = [_feedback_id(account.form_id, number) for number in _numbers(batch)]
    _invoke(process_feedback, [encode(FeedbackPointer(account.id, each)) for each in ids])


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
            "language": "fr",
            "source": "Site",
            "context_id": form_id,
            "answers": (email,),
            "rating": 9,
            "created_at": clock.now(),
        }
    )


def _wait_until_listed(account_id: str, count: int) -> list[Customer]:
    """Return the account's customers. Check that each customer is listed once."""
    deadline = time.monotonic() + _TIMEOUT_S
    while list_customers(account_id, PageRequest(limit=1)).meta.total_items < count:
        assert time.monotonic() < deadline, "not all customers are listed"
        time.sleep(0.1)
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


@contextmanager
def _process(target: Callable[..., None], *arguments: Any) -> Iterator[None]:
    process = _context.Process(target=target, args=arguments, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


WORK: Final = {
    "customers": _Work(lambda account, number: create_one(account.id, number)),
    "purchases": _Work(_create_by_purchase),
    "respondents": _Work(
        _process_batch, partial(_store_batch, has_email=True), items=FEEDBACK.batch_size
    ),
    "feedback": _Work(
        _process_batch,
        partial(_store_batch, has_email=False),
        items=FEEDBACK.batch_size,
        customers=False,
    ),
    "feedback with workflows": _Work(
        _process_batch,
        partial(_store_batch, has_email=False),
        items=FEEDBACK.batch_size,
        customers=False,
        workflows=2,
    ),
}

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
