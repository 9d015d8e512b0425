"""Measure recording purchases and sending surveys, and compare both with a bare boto3 script."""

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3

from admin.commands.purchase import import_file
from admin.services.accounts.manage import create_account
from admin.services.accounts.save_places import save_brand, save_store
from admin.services.forms.save import save_survey
from benchmarks.create_cost import invoke
from benchmarks.own_cloud import own_cloud
from benchmarks.report import Section, Table
from chalicelib.aws_calls import count_calls_of, counted_calls
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.services.caching import clear_caches
from chalicelib.services.purchases import record
from chalicelib.services.solicitation import send_survey
from chalicelib.services.work.worker import Worker
from chalicelib.settings import settings
from infrastructure.deployment import public_base_url

PURCHASES: Final = 1_000
_WARM_UP: Final = 50
_THREADS: Final = 8
_BATCH: Final = 10
_SENDER: Final = "surveys@example.test"


@dataclass(frozen=True)
class _Cost:
    """The measurements of one way to process purchases."""

    purchases_per_second: float
    requests: float
    cpu_ms: float

    @classmethod
    def of(cls, purchases: int, process: Callable[[], None]) -> "_Cost":
        with counted_calls() as calls:
            started, cpu = time.perf_counter(), time.process_time()
            process()
            seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu
        return cls(purchases / seconds, calls.total() / purchases, cpu_s * 1000 / purchases)

    def cells(self) -> tuple[float, ...]:
        """Return the cells of the report."""
        per_request = self.cpu_ms / self.requests
        return self.purchases_per_second, self.requests, self.cpu_ms, per_request


def measure() -> Section:
    """Measure the import, the queue functions and the bare script on a new emulator."""
    with own_cloud():
        account_id, store_id = _open_shop()
        public_base_url.store(settings().stage, "https://api.example.test")
        ses = _provider()
        setattr(send_survey, "send_invitation", partial(_send, ses))  # noqa: B010 - replaces a function
        clear_caches()
        definitions = [_definition(store_id, number) for number in range(PURCHASES + _WARM_UP)]
        warm_up, measured = definitions[:_WARM_UP], definitions[_WARM_UP:]
        _record(account_id, warm_up)
        _solicit()
        recorded = _Cost.of(PURCHASES, lambda: _record(account_id, measured))
        bodies = list(_receive())
        solicited = _Cost.of(PURCHASES, lambda: _invoke(send_survey.WORKER, bodies))
        imported = _import(account_id, store_id, PURCHASES)
        bare = _Cost.of(PURCHASES, lambda: _run_bare(ses, PURCHASES))
    rows = [
        ("queue: record_purchase", *recorded.cells()),
        ("queue: send_survey", *solicited.cells()),
        ("purchase import, without surveys", *imported.cells()),
        ("bare boto3: look up, put, send", *bare.cells()),
    ]
    return Section(
        "Purchases and surveys",
        [
            f"{PURCHASES:,} purchases of as many new customers of one account, on the emulator,"
            " which uses the same processors. The functions process batches of ten messages in this"
            " process, five at a time. All contenders send the same prepared e-mail through SES."
            " The bare script looks up the customer, writes the purchase and sends the e-mail,"
            " without a claim, a tracker, an outcome, counts or rules. Without contention, a"
            " purchase and its survey take eight requests; while concurrent creates contend for"
            " the account's counter, more. Compare the CPU of a request: almost all of it is the"
            " request itself, so a purchase costs as much as its number of requests.",
            Table(
                {"": "", "purchases per second": ".0f", "AWS requests": ".2f"}
                | {"CPU per purchase, ms": ".2f", "CPU per request, ms": ".2f"},
                rows,
            ),
        ],
    )


def _open_shop() -> tuple[str, str]:
    """Create an account with a survey that is sent by e-mail. Return the account and its store."""
    account_id = create_account("Maison Lumen").id
    brand = save_brand(account_id, {"id": new_id(), "name": "Maison Lumen"})
    store = save_store(account_id, {"id": new_id(), "name": "Lyon", "brandId": brand.id})
    survey = {
        "id": new_id(),
        "name": "After the visit",
        "language": "en",
        "enabled": True,
        "sendingChannels": ["EMAIL"],
        "resolicitationDelay": 2_592_000,
        "targets": [{"type": "STORE", "targetId": store.id}],
    }
    save_survey(account_id, survey)
    return account_id, store.id


def _definition(store_id: str, number: int) -> dict[str, Any]:
    return {
        "source": "Site",
        "externalId": f"{number}-{new_id()}",
        "storeId": store_id,
        "date": datetime.now(UTC).isoformat(),
        "customer": {"email": f"customer-{new_id()}@example.test", "emailOptin": True},
    }


def _record(account_id: str, definitions: Sequence[dict[str, Any]]) -> None:
    messages = [{"accountId": account_id, "purchase": purchase} for purchase in definitions]
    _invoke(record.WORKER, [json.dumps(message) for message in messages])


def _solicit() -> None:
    _invoke(send_survey.WORKER, list(_receive()))


def _invoke(worker: Worker[Any], bodies: Sequence[str]) -> None:
    """Invoke the function with batches of messages. Redeliver failed messages, as a queue does."""
    remaining = list(bodies)
    while remaining:
        batch, remaining = remaining[:_BATCH], remaining[_BATCH:]
        remaining += invoke(worker, batch)


def _receive() -> Iterator[str]:
    """Receive all messages of the solicitations queue."""
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=settings().resource_name("solicitations"))["QueueUrl"]
    while received := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for message in received:
            yield message["Body"]
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def _import(account_id: str, store_id: str, purchases: int) -> _Cost:
    lines = [json.dumps(_definition(store_id, number)) for number in range(purchases)]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(lines))
        file.flush()
        with contextlib.redirect_stdout(io.StringIO()):
            return _Cost.of(purchases, lambda: import_file(Path(file.name), account_id))


def _provider() -> Any:
    """Verify the sender in SES. Return a client whose requests are counted."""
    ses = boto3.client("ses")
    ses.verify_email_identity(EmailAddress=_SENDER)
    count_calls_of(ses)
    return ses


def _mail(to: str) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = _SENDER, to, "How was your visit?"
    mail.set_content("Please answer our survey. " * 20)
    return mail.as_bytes()


def _send(ses: Any, invitation: SurveyInvitation) -> str:
    to = str(invitation.customer.email)
    response = ses.send_raw_email(Source=_SENDER, Destinations=[to], RawMessage={"Data": _mail(to)})
    return str(response["MessageId"])


def _run_bare(ses: Any, purchases: int) -> None:
    dynamodb = boto3.client("dynamodb")
    count_calls_of(dynamodb)

    def process(_: int) -> None:
        key, to = {"key": {"S": new_id()}}, f"{new_id()}@example.test"
        dynamodb.get_item(TableName=settings().resource_name("customers"), Key=key)
        item = {
            **key,
            "account_id": {"S": "account"},
            "store_id": {"S": "store"},
            "date": {"S": datetime.now(UTC).isoformat()},
            "source": {"S": "Site"},
        }
        dynamodb.put_item(TableName=settings().resource_name("purchases"), Item=item)
        ses.send_raw_email(Source=_SENDER, Destinations=[to], RawMessage={"Data": _mail(to)})

    map_concurrently(process, range(purchases), _THREADS)
