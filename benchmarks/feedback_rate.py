"""Compute how many feedback records a second `process_feedback` processes.

Usage: ``python -m benchmarks.feedback_rate ACCOUNTS RECORDS``.
"""

import json
import sys
from functools import partial
from typing import Final

from chalice.app import SQSEvent

from benchmarks.create_process import respondent_feedback
from benchmarks.processes import run
from benchmarks.quiet_log import discard_log
from benchmarks.report import Section, Table
from benchmarks.sample_account import contact_form
from benchmarks.waiting_model import REQUEST_S, WaitingModel, waiting_model
from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.domain.ids import new_id
from chalicelib.functions.process_feedback import process_feedback
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK
from chalicelib.services.accounts.manage import create_account
from chalicelib.services.accounts.save_places import save_brand
from chalicelib.services.forms.save import save_contact_form
from chalicelib.storage import feedback

RECORDS: Final = 2_500
_ACCOUNTS: Final = (1, 10, 100)


def measure(records: int = RECORDS) -> Section:
    """Process feedback of new respondents of one and of many accounts in a model of waiting."""
    rows = [
        json.loads(run("-m", "benchmarks.feedback_rate", str(accounts), str(records)))
        for accounts in _ACCOUNTS
    ]
    return Section(
        "Rate of feedback",
        [
            f"{records:,} feedback records of new respondents, in batches of"
            f" {FEEDBACK.batch_size} by {FEEDBACK.max_concurrency} concurrent invocations. Each"
            " account has one form. The model counts only waiting: each AWS request takes"
            f" {REQUEST_S * 1000:g} ms of virtual time, and DynamoDB rejects concurrent"
            " transactions that write the same row.",
            Table(("accounts", "records per second", "conflicts per batch", "requests"), rows),
        ],
    )


def _row(accounts: int, records: int) -> tuple[str, ...]:
    with waiting_model() as model, discard_log():
        forms = [_open_account() for _ in range(accounts)]
        _run(model, forms, FEEDBACK.batch_size * FEEDBACK.max_concurrency)  # fill the caches
        model.conflicts = model.requests = 0
        seconds = _run(model, forms, records)
        return (
            str(accounts),
            f"{records / seconds:,.0f}",
            f"{model.conflicts * FEEDBACK.batch_size / records:.1f}",
            f"{model.requests:,}",
        )


def _run(model: WaitingModel, forms: list[tuple[str, str]], records: int) -> float:
    pointers = []
    for number in range(records):
        account_id, form_id = forms[number % len(forms)]
        record = respondent_feedback(account_id, form_id, number).model_copy(
            update={"id": new_id()}
        )
        email = record.answers[0].model_copy(update={"values": [f"{record.id}@example.com"]})
        feedback.create(record.model_copy(update={"answers": (email,)}), None)
        pointers.append(FeedbackPointer(account_id, record.id))
    size = FEEDBACK.batch_size
    batches = [pointers[start : start + size] for start in range(0, records, size)]
    return model.run(FEEDBACK.max_concurrency, [partial(_invoke, batch) for batch in batches])


def _invoke(batch: list[FeedbackPointer]) -> None:
    bodies = [encode(pointer) for pointer in batch]
    records = [{"messageId": str(n), "body": body} for n, body in enumerate(bodies)]
    response = process_feedback(SQSEvent({"Records": records}, None))
    assert not response["batchItemFailures"], response


def _open_account() -> tuple[str, str]:
    account_id = create_account("Maison Lumen").id
    brand = save_brand(account_id, {"id": new_id(), "name": "Maison Lumen"})
    form = save_contact_form(account_id, contact_form(1, brand.id) | {"id": new_id()})
    return account_id, form.id


if __name__ == "__main__":
    print(json.dumps(_row(*map(int, sys.argv[1:]))))
