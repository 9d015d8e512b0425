"""Compute how many feedback records a second `process_feedback` processes."""

from functools import partial
from typing import Final

from benchmarks import sample_account
from benchmarks.create_cost import respondent_feedback
from benchmarks.measurement import measured
from benchmarks.processes import child_process
from benchmarks.queue_functions import invoke
from benchmarks.report import Section, Table
from benchmarks.waiting_model import REQUEST_S, WaitingModel, waiting_model
from chalicelib.domain.feedback.feedback import FeedbackPointer
from chalicelib.domain.paging import in_groups
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK
from chalicelib.services.feedback.process import WORKER
from chalicelib.storage import feedback

RECORDS: Final = 2_500
_CASES: Final = ((1, 1), (1, 2), (10, 1), (100, 1))
"""Numbers of accounts, each with the number of times that the queue has delivered the messages."""


def measure() -> Section:
    """Process feedback of new respondents of one and of many accounts in a model of waiting."""
    rows = []
    for case in _CASES:
        with child_process() as process:
            rows.append(process.submit(_row, *case).result())
    return Section(
        "Rate of feedback",
        [
            f"{RECORDS:,} feedback records of new respondents, in batches of"
            f" {FEEDBACK.batch_size} by {FEEDBACK.max_concurrency} concurrent invocations. Each"
            " account has one form. The model counts only waiting: each AWS request takes"
            f" {REQUEST_S * 1000:g} ms of virtual time, and DynamoDB rejects concurrent"
            " transactions that write the same row. The second delivery is that of messages whose"
            " first invocation returned them to the queue.",
            Table(
                {"accounts": "", "delivery": "", "records per second": ",.0f"}
                | {"conflicts per batch": ".1f", "requests": ","},
                rows,
            ),
        ],
    )


def _row(accounts: int, receive_count: int) -> tuple[int, int, float, float, int]:
    with waiting_model() as model:
        forms = [sample_account.with_contact_form() for _ in range(accounts)]
        warm_up = FEEDBACK.batch_size * FEEDBACK.max_concurrency
        _run(model, forms, range(warm_up), 1)  # fill the caches
        model.conflicts = 0
        with measured() as measurement:
            seconds = _run(model, forms, range(warm_up, warm_up + RECORDS), receive_count)
        conflicts = model.conflicts * FEEDBACK.batch_size / RECORDS
        return accounts, receive_count, RECORDS / seconds, conflicts, len(measurement.requests)


def _run(
    model: WaitingModel, forms: list[tuple[str, str]], numbers: range, receive_count: int
) -> float:
    pointers = []
    for number in numbers:
        account_id, form_id = forms[number % len(forms)]
        record = respondent_feedback(account_id, form_id, number)
        feedback.create(record, None)
        pointers.append(FeedbackPointer(account_id, record.id))
    batches = in_groups(pointers, FEEDBACK.batch_size)
    invocations = [partial(_invoke, batch, receive_count) for batch in batches]
    return model.run(FEEDBACK.max_concurrency, invocations)


def _invoke(batch: list[FeedbackPointer], receive_count: int) -> None:
    assert not invoke(WORKER, list(map(encode, batch)), receive_count)
