"""Measure recording purchases and sending surveys, and compare both with a bare boto3 script."""

import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3

from admin.commands.purchase import import_file
from admin.services.accounts.manage import create_account
from admin.services.forms.save import save_survey
from benchmarks import sample_account
from benchmarks.measurement import measured
from benchmarks.own_cloud import own_cloud
from benchmarks.queue_functions import invoke, received
from benchmarks.report import Section, Table
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.queues import SOLICITATIONS
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


def _measured(name: str, process: Callable[[], object]) -> tuple[Any, ...]:
    """Process the purchases. Return a row of the report."""
    with measured() as cost:
        process()
    cpu_ms = cost.cpu_s * 1000
    requests = len(cost.requests)
    return (
        name,
        PURCHASES / cost.seconds,
        requests / PURCHASES,
        cpu_ms / PURCHASES,
        cpu_ms / requests,
    )


def measure() -> Section:
    """Measure the import, the queue functions and the bare script on a new emulator."""
    with own_cloud():
        account_id, store_id = _open_shop()
        public_base_url.store(settings().stage, "https://api.example.test")
        ses = _provider()
        setattr(send_survey, "send_invitation", partial(_send, ses))  # noqa: B010 - replaces a function
        clear_caches()
        definitions = [_definition(store_id, number) for number in range(PURCHASES + _WARM_UP)]
        warm_up, purchases = definitions[:_WARM_UP], definitions[_WARM_UP:]
        _record(account_id, warm_up)
        _invoke(send_survey.WORKER, _receive())
        rows = [_measured("queue: record_purchase", lambda: _record(account_id, purchases))]
        bodies = _receive()
        lines = [json.dumps(_definition(store_id, number)) for number in range(PURCHASES)]
        rows += [
            _measured("queue: send_survey", lambda: _invoke(send_survey.WORKER, bodies)),
            _measured("purchase import, without surveys", lambda: _import(account_id, lines)),
            _measured("bare boto3: look up, put, send", lambda: _run_bare(ses)),
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
    sample_account.save_places(account_id)
    store_id = sample_account.demo("store")[0]["id"]
    survey = {
        "id": new_id(),
        "name": "After the visit",
        "language": "en",
        "enabled": True,
        "sendingChannels": ["EMAIL"],
        "resolicitationDelay": 2_592_000,
        "targets": [{"type": "STORE", "targetId": store_id}],
    }
    save_survey(account_id, survey)
    return account_id, store_id


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


def _invoke(worker: Worker[Any], bodies: Sequence[str]) -> None:
    """Invoke the function with batches of messages. Redeliver failed messages, as a queue does."""
    remaining = list(bodies)
    while remaining:
        batch, remaining = remaining[:_BATCH], remaining[_BATCH:]
        remaining += invoke(worker, batch)


def _receive() -> list[str]:
    """Receive all messages of the solicitations queue."""
    return [body for bodies in received(SOLICITATIONS) for body in bodies]


def _import(account_id: str, lines: list[str]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(lines))
        file.flush()
        with contextlib.redirect_stdout(io.StringIO()):
            import_file(Path(file.name), account_id)


def _provider() -> Any:
    """Verify the sender in SES. Return a client."""
    ses = boto3.client("ses")
    ses.verify_email_identity(EmailAddress=_SENDER)
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


def _run_bare(ses: Any) -> None:
    dynamodb = boto3.client("dynamodb")

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

    map_concurrently(process, range(PURCHASES), _THREADS)
