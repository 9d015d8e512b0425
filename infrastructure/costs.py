"""Compute the cost of a stage for a month from counted requests.

`make generate` writes the table to docs/costs.md. A test counts the requests and the capacity units
of each operation. The prices are list prices of US East (N. Virginia) as of 2025
in US dollars, without free tier, taxes and data transfer.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chalicelib.queues import ALL_QUEUES
from infrastructure.deployment.data_stack import template_body
from infrastructure.functions import FUNCTIONS, stage_named

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "costs.md"
_TABLE: Final = re.compile(r"(\|.*\n)+")

MILLION: Final = 1_000_000
PURCHASES: Final = (0, 10_000, 100_000, MILLION)
"""The numbers of purchases in a month for which the table shows the cost."""

OPENED: Final = 0.3
ANSWERED: Final = 0.2
"""Assumed shares of the surveys whose page is opened, and that are answered."""

KB_FOR_EACH_PURCHASE: Final = 6
"""Assumed storage of a purchase, its customer, its survey and its feedback, with indexes."""

_HOURS: Final = 730
_STAGE: Final = stage_named("prod")
_MEMORY_MB: Final = {f.name: _STAGE.memory_mb.get(f.name, f.memory_mb) for f in FUNCTIONS}
_TABLES: Final = {f.name: len({t.partition("/")[0] for t in f.tables}) for f in FUNCTIONS}

# Prices of one million, unless the name contains another unit.
_WRITE_UNITS: Final = 0.625
_READ_UNITS: Final = 0.125
_GB_STORED: Final = 0.25 + 0.20  # the table and its continuous backup
_GATEWAY: Final = 3.50
INVOCATIONS: Final = 0.20
GB_SECOND: Final = 0.0000166667
_SQS: Final = 0.40
_EMAILS: Final = 100.0
_KMS: Final = 3.0
_KMS_KEY: Final = 1.0
_GB_LOGGED: Final = 0.50
_METRIC: Final = 0.30
_ALARM: Final = 0.10
_COMPOSITE_ALARM: Final = 0.50
_DASHBOARD: Final = 3.0
_SECRET: Final = 0.40

_START_MS: Final = 5
REQUEST_MS: Final = 10
_LOGGED_KB: Final = 1.5
_POLLS_A_SECOND: Final = 5 / 20
"""Lambda polls an idle queue with five connections, each of which waits for up to 20 seconds."""

_KEY_CACHE_S: Final = 300
"""DynamoDB asks KMS again for the key of a table after this time, for each caller."""

_PEAK: Final = 10
"""Assumed ratio of the busiest hour to the average hour."""


@dataclass(frozen=True)
class Operation:
    """One invocation of a function, with one message or request.

    Attributes:
        requests: the AWS requests that the function sends, by operation.
        write_units: the write units by table.
        share: the number of invocations for each purchase.
        parallel: the number of requests that the function sends at the same time.
    """

    function: str
    requests: Mapping[str, int] = field(default_factory=dict)
    read_units: float = 0.0
    write_units: Mapping[str, int] = field(default_factory=dict)
    share: float = 1.0
    parallel: int = 1

    @property
    def duration_s(self) -> float:
        """The assumed duration of the invocation."""
        return (_START_MS + REQUEST_MS * sum(self.requests.values()) / self.parallel) / 1000


PURCHASE: Final = {
    "purchase recorded": Operation(
        "record_purchase",
        {
            "dynamodb.BatchGetItem": 1,
            "dynamodb.TransactWriteItems": 1,
            "sqs.SendMessageBatch": 1,
        },
        read_units=6,
        write_units={
            "customers": 5,
            "customer-pairs": 2,
            "purchases": 3,
            "solicitations": 5,
            "contacts": 2,
            "counters": 4,
        },
    ),
    "survey sent": Operation(
        "send_survey",
        {
            "dynamodb.BatchGetItem": 2,
            "dynamodb.TransactWriteItems": 2,
            "ses.SendRawEmail": 1,
        },
        read_units=6,
        write_units={
            "customers": 2,
            "trackers": 3,
            "solicitations": 9,
            "contacts": 4,
            "purchases": 2,
            "messages": 2,
            "counters": 2,
            "statistics": 2,
        },
    ),
    "page opened": Operation("api_handler", {"dynamodb.GetItem": 2}, read_units=2, share=OPENED),
    "script of the page": Operation("api_handler", share=OPENED),
    "survey answered": Operation(
        "api_handler",
        {
            "dynamodb.BatchGetItem": 1,
            "dynamodb.TransactWriteItems": 1,
            "sqs.SendMessageBatch": 1,
        },
        read_units=2,
        write_units={"feedback": 5, "trackers": 2},
        share=ANSWERED,
    ),
    "feedback processed": Operation(
        "process_feedback",
        {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 1},
        read_units=4,
        write_units={
            "surveys": 3,
            "counters": 2,
            "customers": 3,
            "feedback": 5,
            "feedback-changes": 4,
            "statistics": 2,
        },
        share=ANSWERED,
    ),
}
"""The operations for a purchase of a new customer, whose survey is sent by e-mail."""

SWEEP: Final = Operation(
    "sweep", {"dynamodb.Query": 224, "dynamodb.Scan": 1}, read_units=112.5, parallel=7
)
"""One sweep of an idle stage. The sweeper reads all kinds of work at the same time."""

SWEEP_METRICS: Final = 16
"""The number of metrics that each sweep publishes."""

_METRICS_UNDER_LOAD: Final = 13
"""Further metrics: 3 routes, and the results of purchases (1), surveys (7) and feedback (2)."""


def monthly_cost(purchases: int) -> dict[str, float]:
    """Return the cost of a month by AWS service for a number of purchases."""
    sweeps = _HOURS * 60
    operations = [(operation, purchases * operation.share) for operation in PURCHASE.values()]
    operations.append((SWEEP, sweeps))
    total: defaultdict[str, float] = defaultdict(float)
    for operation, number in operations:
        millions = number / MILLION
        seconds = number * operation.duration_s
        writes = sum(operation.write_units.values())
        total["DynamoDB"] += millions * (operation.read_units * _READ_UNITS + writes * _WRITE_UNITS)
        total["Lambda"] += (
            millions * INVOCATIONS + seconds * _MEMORY_MB[operation.function] / 1024 * GB_SECOND
        )
        total["CloudWatch"] += number * _LOGGED_KB / 1024**2 * _GB_LOGGED
        if operation.function == "api_handler":
            total["API Gateway"] += millions * _GATEWAY
        elif operation is not SWEEP:
            # Receiving and deleting a message are two requests. Sending it is counted below, as a
            # request of the function that sends it.
            total["SQS"] += millions * 2 * _SQS
        total["SQS"] += millions * operation.requests.get("sqs.SendMessageBatch", 0) * _SQS
        total["SES"] += millions * operation.requests.get("ses.SendRawEmail", 0) * _EMAILS
        if number:
            environments = max(1.0, _PEAK * seconds / (_HOURS * 3600))
            keys = environments * _TABLES[operation.function] * _HOURS * 3600 / _KEY_CACHE_S
            total["KMS"] += keys / MILLION * _KMS
    polls = len(ALL_QUEUES) * _POLLS_A_SECOND * _HOURS * 3600
    metrics = SWEEP_METRICS + (_METRICS_UNDER_LOAD if purchases else 0)
    total["SQS"] += polls / MILLION * _SQS
    total["DynamoDB"] += purchases * KB_FOR_EACH_PURCHASE / 1024**2 * _GB_STORED
    total["CloudWatch"] += _DASHBOARD + metrics * _METRIC
    total["CloudWatch"] += alarm_metrics() * _ALARM + _COMPOSITE_ALARM
    total["KMS"] += _KMS_KEY
    total["Secrets Manager"] += _SECRET
    return dict(total)


def alarm_metrics() -> int:
    """Return the number of metrics that the alarms of a stage evaluate: one for each alarm."""
    resources = json.loads(template_body())["Resources"].values()
    return sum(resource["Type"] == "AWS::CloudWatch::Alarm" for resource in resources)


def table() -> str:
    """Return the cost by service as a Markdown table."""
    costs = [monthly_cost(purchases) for purchases in PURCHASES]
    services = sorted(costs[-1], key=lambda service: -costs[-1][service])
    columns = ["Idle", *(f"{purchases:,} purchases" for purchases in PURCHASES[1:])]
    rows = [
        ["Service", *columns],
        ["---", *("---:" for _ in costs)],
        *([service, *(f"{cost.get(service, 0.0):.2f}" for cost in costs)] for service in services),
        ["**Total**", *(f"**{sum(cost.values()):.2f}**" for cost in costs)],
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def files() -> dict[Path, str]:
    """Return the text of docs/costs.md, with the computed table, by path."""
    return {PAGE: _TABLE.sub(lambda _: table(), PAGE.read_text(), count=1)}
