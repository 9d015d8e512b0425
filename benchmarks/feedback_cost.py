"""Measure the operator commands that read the feedback of an account with many records."""

import random
import resource
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from typer.testing import CliRunner

from admin.main import app
from admin.services.accounts.manage import create_account
from admin.services.definitions.kinds import CONTACT_FORM, save
from benchmarks.gateway_event import ACCOUNT_ID
from benchmarks.measurement import measured
from benchmarks.memory_cloud import connect_to, running_cloud
from benchmarks.report import Section, Table
from benchmarks.sample_account import (
    BRAND_ID,
    CONTACT_FORM_ID,
    respondent_feedback,
    save_places,
)
from chalicelib.domain import clock
from chalicelib.domain.feedback.daily import Numbers, group_of, numbers_of
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.ids import derived_id
from chalicelib.domain.work import WorkState
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.statistics import StatisticsRow

FEEDBACK: Final = 100_000
_PERIOD: Final = timedelta(days=365)
_STORES: Final = 20
_COMMENTS: Final = (
    "Everything was fine, thank you.",
    "We waited for half an hour, and the soup was cold.",
    "The team is friendly, but the room was too loud to talk.",
)


def measure() -> Section:
    """Measure lists, filters, exports and reports."""
    since, half = (f"{clock.now() - timedelta(days=days):%F}" for days in (30, 181))
    with running_cloud() as cloud, tempfile.TemporaryDirectory() as folder:
        connect_to(cloud)
        _load()
        rows = [
            _row("list --rating 0..2", "list", "--rating", "0..2"),
            _row("list --contains, no match", "list", "--since", since, "--contains", "xyzzy"),
            _row("report, 30 days", "report", "--output", f"{folder}/report.html"),
            _row("report, 182 days", "report", "--output", f"{folder}/half.html", "--since", half),
            _row("export, csv", "export", "--output", f"{folder}/all.csv"),
        ]
    return Section(
        "Operator commands",
        [
            f"An account with {FEEDBACK:,} feedback records of the last year. One of its stores got"
            " worse a month ago. Another process keeps the tables in memory. For each query of the"
            " index, it sorts all records of the account; DynamoDB does not. 'CPU' is that of the"
            " command. 'Memory' is the growth of the largest resident size of its process.",
            Table(
                {"command": "", "seconds": ".1f", "CPU, s": ".1f", "AWS requests": ","}
                | {"memory, MB": ".0f"},
                rows,
            ),
        ],
    )


def _row(name: str, command: str, *options: str) -> tuple[Any, ...]:
    before = _peak_mb()
    with measured() as cost:
        words = ["feedback", command, ACCOUNT_ID, *options]
        result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return name, cost.seconds, cost.cpu_s, len(cost.requests), _peak_mb() - before


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _load() -> None:
    """Write the rows of processed feedback and of statistics directly to the tables."""
    create_account("Maison Lumen", ACCOUNT_ID)
    save_places(ACCOUNT_ID)
    fields = [{"key": "nps", "type": "NPS"}, {"key": "why", "type": "LONG_TEXT"}]
    form = {"name": "Contact", "language": "en", "brandId": BRAND_ID, "fields": fields}
    saved = save(CONTACT_FORM, ACCOUNT_ID, form | {"id": CONTACT_FORM_ID})
    numbers: dict[str, Numbers] = defaultdict(Numbers)
    with FeedbackRow.batch_write() as batch:
        for record in _records(*(field.id for field in saved.fields)):
            key = group_of(record, "UTC").key
            numbers[key].update(numbers_of(record))
            row = FeedbackRow(
                record.id,
                account_id=record.account_id,
                form_id=record.form_id,
                document=record,
                created_at=record.created_at,
                state=WorkState.DONE.value,
                counted_as=key,
            )
            batch.save(row)
    with StatisticsRow.batch_write() as statistics:
        for key, values in numbers.items():
            attributes: dict[str, Any] = dict(values)
            statistics.save(StatisticsRow(ACCOUNT_ID, key, **attributes))


def _records(nps_id: str, why_id: str) -> Iterator[Feedback]:
    randomness, now = random.Random(0), clock.now()
    for number in range(FEEDBACK):
        store, age = number % _STORES, _PERIOD * ((FEEDBACK - number) / FEEDBACK)
        is_worse = not store and age < timedelta(days=30)
        rating = randomness.randint(0, 5 if is_worse else 10)
        comment = randomness.choice(_COMMENTS)
        nps = Answer(field_id=nps_id, key="nps", type=FieldType.NPS, values=[str(rating)])
        why = Answer(field_id=why_id, key="why", type=FieldType.LONG_TEXT, values=[comment])
        places = {"brand_id": BRAND_ID, "store_id": derived_id("store", str(store))}
        changes = {"answers": (nps, why), "rating": rating, "created_at": now - age}
        record = respondent_feedback(ACCOUNT_ID, CONTACT_FORM_ID, number)
        yield record.model_copy(update={**places, **changes})
