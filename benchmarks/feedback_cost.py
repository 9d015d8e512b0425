"""Measure the operator commands that read the feedback of an account with many records."""

import random
import resource
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from admin.main import app
from admin.services.accounts.manage import create_account
from admin.services.accounts.save_places import save_brand, save_store
from admin.services.forms.save import save_contact_form
from benchmarks.create_cost import respondent_feedback
from benchmarks.gateway_event import ACCOUNT_ID
from benchmarks.measurement import measured
from benchmarks.memory_cloud import connect, running_cloud
from benchmarks.report import Section, Table
from chalicelib.domain import clock
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.feedback.daily import Numbers, group_of, numbers_of
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.ids import derived_id
from chalicelib.domain.work import WorkState
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.statistics import StatisticsRow

FEEDBACK: Final = 100_000
_PERIOD: Final = timedelta(days=365)
_BRAND, _STORE, _FORM = (derived_id("feedback cost", name) for name in ("brand", "store", "form"))
_COMMENTS: Final = (
    "Everything was fine, thank you.",
    "We waited for half an hour, and the soup was cold.",
    "The team is friendly, but the room was too loud to talk.",
)


def measure() -> Section:
    """Measure lists, filters, exports and reports."""
    with running_cloud() as cloud, tempfile.TemporaryDirectory() as folder:
        connect(cloud)
        _load()
        rows = [
            _measured(name, ["feedback", *words]) for name, words in _commands(Path(folder)).items()
        ]
    return Section(
        "Operator commands",
        [
            f"An account with {FEEDBACK:,} feedback records of the last year. Another process keeps"
            " the tables in memory. For each query of the index, it sorts all records of the"
            " account; DynamoDB does not. 'CPU' is that of the command. 'Memory' is the growth of"
            " the largest resident size of its process.",
            Table(
                {"command": "", "seconds": ".1f", "CPU, s": ".1f", "AWS requests": ","}
                | {"memory, MB": ".0f"},
                rows,
            ),
        ],
    )


def _commands(folder: Path) -> dict[str, list[str]]:
    since = (clock.now() - timedelta(days=30)).date().isoformat()
    return {
        "list --rating 0..2": ["list", ACCOUNT_ID, "--rating", "0..2"],
        "list --contains, no match": ["list", ACCOUNT_ID, "--since", since, "--contains", "xyzzy"],
        "report, 12 weeks": ["report", ACCOUNT_ID, "--output", str(folder / "report.html")],
        "export, csv": ["export", ACCOUNT_ID, "--output", str(folder / "all.csv")],
    }


def _measured(name: str, words: list[str]) -> tuple[Any, ...]:
    before = _peak_mb()
    with measured() as cost:
        result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return name, cost.seconds, cost.cpu_s, len(cost.requests), _peak_mb() - before


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _load() -> None:
    """Write the rows of processed feedback and of statistics directly to the tables."""
    create_account("Maison Lumen", ACCOUNT_ID)
    save_brand(ACCOUNT_ID, {"id": _BRAND, "name": "Maison Lumen"})
    save_store(ACCOUNT_ID, {"id": _STORE, "name": "Lyon", "brandId": _BRAND})
    fields = [{"key": "nps", "type": "NPS"}, {"key": "why", "type": "LONG_TEXT"}]
    form = {"id": _FORM, "name": "Contact", "language": "en", "brandId": _BRAND, "fields": fields}
    saved = save_contact_form(ACCOUNT_ID, form)
    numbers: dict[str, Numbers] = defaultdict(Numbers)
    with FeedbackRow.batch_write() as batch:
        for record in _records(*(field.id for field in saved.fields)):
            numbers[group_of(record, "UTC").key].update(numbers_of(record))
            row = FeedbackRow(
                record.id,
                account_id=record.account_id,
                form_id=record.form_id,
                document=record.model_dump_json().encode(),
                created_at=record.created_at,
                state=WorkState.DONE.value,
            )
            batch.save(row)
    with StatisticsRow.batch_write() as statistics:
        for key, values in numbers.items():
            attributes: dict[str, Any] = dict(values)
            statistics.save(StatisticsRow(ACCOUNT_ID, key, **attributes))


def _records(nps_id: str, why_id: str) -> Iterator[Feedback]:
    randomness, now = random.Random(0), clock.now()
    for number in range(FEEDBACK):
        rating = randomness.randint(0, 10)
        nps = Answer(field_id=nps_id, key="nps", type=FieldType.NPS, values=[str(rating)])
        comment = randomness.choice(_COMMENTS)
        why = Answer(field_id=why_id, key="why", type=FieldType.LONG_TEXT, values=[comment])
        changes = {
            "brand_id": _BRAND,
            "store_id": _STORE,
            "context_id": _STORE,
            "answers": (nps, why),
            "rating": rating,
            "created_at": now - _PERIOD * ((FEEDBACK - number) / FEEDBACK),
        }
        yield respondent_feedback(ACCOUNT_ID, _FORM, number).model_copy(update=changes)
