"""Measure concurrent creates of customers of one account. Check that all customers are listed."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, Final

import boto3
from botocore.httpsession import URLLib3Session
from chalice.app import SQSEvent

from benchmarks import sample_account
from benchmarks.network import network
from benchmarks.own_cloud import own_cloud
from benchmarks.quiet_log import discard_log
from benchmarks.report import Section, Table
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, CustomerBody
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer, FormKind
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import MAX_LIMIT, PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.functions.assign_positions import assign_positions
from chalicelib.functions.process_feedback import process_feedback
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK, LISTING
from chalicelib.services.accounts.save_places import save_brand
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import list_customers
from chalicelib.services.forms.save import save_contact_form
from chalicelib.settings import settings
from chalicelib.storage import feedback
from chalicelib.storage.dynamodb.table import connection

ADDED_MS: Final = 10
BURST: Final = 200
SUSTAINED: Final = 3_000
SUSTAINED_WRITERS: Final = 50
RESPONDENTS: Final = 1_000

MAX_SECONDS: Final = 2.0
"""Target: the maximum duration of one create in the burst."""
MIN_CREATES_PER_SECOND: Final = 400
MAX_RESPONDENTS_SECONDS: Final = 60
MAX_DISORDER: Final = timedelta(seconds=1)
"""Target: the maximum of `Creates.disorder`."""

_LIST_TIMEOUT_S: Final = 60


@dataclass(frozen=True)
class Creates:
    """The measurements of concurrent creates on a new account.

    Attributes:
        seconds: the time until the last create has returned.
        latencies_s: the duration of each successful create.
        rejected: the number of creates that failed with `Unavailable`.
        listed_s: the time from the last create until all customers are listed.
        requests: the number of AWS requests, without requests that receive or delete messages.
        disorder: the maximum difference in age between a customer and an older customer that
            follows it in the list. It is zero if the list is in creation order.
    """

    name: str
    count: int
    seconds: float
    latencies_s: Sequence[float]
    rejected: int
    listed_s: float
    requests: int
    disorder: timedelta

    @property
    def per_second(self) -> float:
        """The throughput in creates per second."""
        return (self.count - self.rejected) / self.seconds


def measure(
    burst: int = BURST, sustained: int = SUSTAINED, respondents: int = RESPONDENTS
) -> Section:
    """Measure concurrent creates in a temporary local cloud. Return a section of the report."""
    with own_cloud(), discard_log():
        _allow_connections(max(burst, SUSTAINED_WRITERS))
        create_one(new_id(), 0)
        with _listing_worker():
            creates = [
                _measure("customers at once", burst, burst, create_one),
                _measure("customers, sustained", sustained, SUSTAINED_WRITERS, create_one),
            ]
            by_respondents = _measure_respondents(respondents)
    return _section(creates, by_respondents)


def create_one(account_id: str, number: int) -> None:
    """Create a customer."""
    body = {"email": f"customer-{number}@example.com", "firstName": f"Zoé {number}"}
    create_customer(account_id, parse(body, CustomerBody))


def _measure(name: str, count: int, writers: int, create: Callable[[str, int], None]) -> Creates:
    account_id = new_id()

    def timed(number: int) -> float | None:
        started = time.perf_counter()
        try:
            create(account_id, number)
        except Unavailable:
            return None
        return time.perf_counter() - started

    with network(ADDED_MS) as requests, ThreadPoolExecutor(writers) as threads:
        started = time.perf_counter()
        latencies = [seconds for seconds in threads.map(timed, range(count)) if seconds]
        ended = time.perf_counter()
        listed = _wait_until_listed(account_id, len(latencies))
    return Creates(
        name,
        count,
        ended - started,
        latencies,
        count - len(latencies),
        time.perf_counter() - ended,
        _worker_requests(requests),
        _disorder(listed),
    )


def _measure_respondents(count: int) -> Creates:
    account_id = new_id()
    brand = save_brand(account_id, {"id": new_id(), "name": "Maison Lumen"})
    form = save_contact_form(account_id, sample_account.contact_form(1, brand.id))
    pending = [respondent_feedback(account_id, form.id, number) for number in range(count)]
    with ThreadPoolExecutor(FEEDBACK.max_concurrency) as threads:
        list(threads.map(lambda record: feedback.create(record, None), pending))

    def process(batch: Sequence[Feedback]) -> float:
        started = time.perf_counter()
        records = [
            {"messageId": record.id, "body": encode(FeedbackPointer(account_id, record.id))}
            for record in batch
        ]
        response = process_feedback(SQSEvent({"Records": records}, None))
        assert not response["batchItemFailures"], response
        return time.perf_counter() - started

    size = FEEDBACK.batch_size
    with network(ADDED_MS) as requests, ThreadPoolExecutor(FEEDBACK.max_concurrency) as threads:
        started = time.perf_counter()
        batches = [pending[start : start + size] for start in range(0, count, size)]
        latencies = list(threads.map(process, batches))
        ended = time.perf_counter()
        listed = _wait_until_listed(account_id, count)
    return Creates(
        f"respondents, in batches of {size}",
        count,
        ended - started,
        latencies,
        0,
        time.perf_counter() - ended,
        _worker_requests(requests),
        _disorder(listed),
    )


def respondent_feedback(account_id: str, form_id: str, number: int) -> Feedback:
    """Build a feedback record of a new respondent, without storing it."""
    email = Answer(
        field_id=new_id(), key="mail", type="EMAIL", values=[f"guest-{number}@example.com"]
    )
    return Feedback.model_validate(
        {
            "id": new_id(),
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
    deadline = time.monotonic() + _LIST_TIMEOUT_S
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
def _listing_worker() -> Iterator[None]:
    """Process the messages of the listing queue in a thread while the ``with`` block runs."""
    sqs: Any = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName=settings().resource_name(LISTING.name))["QueueUrl"]
    is_stopped = threading.Event()

    def work() -> None:
        while not is_stopped.is_set():
            received = sqs.receive_message(
                QueueUrl=queue, MaxNumberOfMessages=LISTING.batch_size, WaitTimeSeconds=1
            ).get("Messages", [])
            if not received:
                continue
            records = [{"messageId": m["MessageId"], "body": m["Body"]} for m in received]
            response = assign_positions(SQSEvent({"Records": records}, None))
            assert not response["batchItemFailures"], response
            for message in received:
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_stopped.set()
        thread.join()


def _allow_connections(number: int) -> None:
    """Let this process open up to ``number`` connections to DynamoDB.

    On AWS, each concurrent create runs in its own function, which has its own connection.
    """
    connection().client._endpoint.http_session = URLLib3Session(max_pool_connections=number)


def _worker_requests(requests: dict[str, int]) -> int:
    return sum(
        count
        for operation, count in requests.items()
        if not operation.endswith(("ReceiveMessage", "DeleteMessage"))
    )


def _section(creates: Sequence[Creates], respondents: Creates) -> Section:
    burst, sustained = creates
    rejected = sum(run.rejected for run in creates)
    disorder = max(run.disorder for run in (*creates, respondents))
    return Section(
        "Concurrent creates",
        [
            "Customers created concurrently on one account, on a local cloud, in process, with"
            f" {ADDED_MS} ms added to every AWS request. A thread of the same process assigns the"
            " positions, as the function does on AWS. 'At once' starts one thread for each create;"
            f" 'sustained' uses {SUSTAINED_WRITERS} threads. Respondents are created by"
            f" {FEEDBACK.max_concurrency} threads that each process a batch of feedback; their"
            " times are those of a batch. 'Listed after' is the time from the last create until all"
            " customers are in the list, including the time to read all pages. Every run checks"
            " that each customer is listed once. The requests include those of the worker and of"
            " the checks."
            " 'Disorder' is the longest time by which a customer precedes an older one.",
            Table(
                (
                    "creates", "number", "rejected", "per second", "p50 ms", "slowest ms",
                    "listed after", "requests each", "disorder",
                ),
                [_row(run) for run in (*creates, respondents)],
            ),
            f"Targets: no create is rejected ({_met(not rejected)}); of {burst.count} at once, none"
            f" takes longer than {MAX_SECONDS:.0f} s"
            f" ({_met(max(burst.latencies_s) <= MAX_SECONDS)}); at least {MIN_CREATES_PER_SECOND}"
            f" creates a second, sustained"
            f" ({_met(sustained.per_second >= MIN_CREATES_PER_SECOND)});"
            f" {respondents.count:,} respondents within {MAX_RESPONDENTS_SECONDS} s"
            f" ({_met(respondents.seconds <= MAX_RESPONDENTS_SECONDS)}); disorder of at most"
            f" {MAX_DISORDER.total_seconds():.0f} s ({_met(disorder <= MAX_DISORDER)}).",
        ],
    )  # fmt: skip


def _row(run: Creates) -> tuple[str, ...]:
    return (
        run.name,
        f"{run.count:,}",
        str(run.rejected),
        f"{run.per_second:,.0f}",
        f"{median(run.latencies_s) * 1000:,.0f}",
        f"{max(run.latencies_s) * 1000:,.0f}",
        f"{run.listed_s:.1f} s",
        f"{run.requests / run.count:.1f}",
        f"{run.disorder.total_seconds():.2f} s",
    )


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"
