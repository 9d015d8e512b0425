"""Measure concurrent creates of customers of one account, and the processing of feedback."""

import json
from statistics import median
from typing import Final

from benchmarks.create_process import PROCESSES, Creates
from benchmarks.processes import run
from benchmarks.report import Section, Table
from chalicelib.queues import FEEDBACK

ADDED_MS: Final = 10
BURST: Final = 200
SUSTAINED: Final = 3_000
SUSTAINED_THREADS: Final = 50
RESPONDENTS: Final = 1_000
FEEDBACKS: Final = 2_000

MAX_SECONDS: Final = 2.0
"""Target: the maximum duration of one create in the burst."""
MIN_CREATES_PER_SECOND: Final = 400
MAX_RESPONDENTS_SECONDS: Final = 60
MAX_DISORDER_S: Final = 1.0
"""Target: the maximum of `Creates.disorder_s`."""


def measure() -> Section:
    """Measure each kind of creates with new processes. Return a section of the report."""
    invocations = FEEDBACK.max_concurrency
    burst = _measure("customers", BURST, BURST)
    sustained = _measure("customers", SUSTAINED, SUSTAINED_THREADS)
    purchases = _measure("purchases", SUSTAINED, SUSTAINED_THREADS)
    respondents = _measure("respondents", RESPONDENTS, invocations)
    creates = {
        "customers at once": burst,
        "customers, sustained": sustained,
        "purchases of new customers, sustained": purchases,
        "new respondents": respondents,
    }
    feedback = {
        "feedback": _measure("feedback", FEEDBACKS, invocations),
        "feedback with two webhooks": _measure("feedback with workflows", FEEDBACKS, invocations),
    }
    disorder_s = max(run.disorder_s for run in creates.values())
    targets = {
        "no create is rejected": not any(run.rejected for run in creates.values()),
        f"of {BURST} at once, none takes longer than {MAX_SECONDS:.0f} s": max(burst.latencies_s)
        <= MAX_SECONDS,
        f"at least {MIN_CREATES_PER_SECOND} customers a second, sustained": sustained.per_second
        >= MIN_CREATES_PER_SECOND,
        f"{RESPONDENTS:,} respondents within {MAX_RESPONDENTS_SECONDS} s": respondents.seconds
        <= MAX_RESPONDENTS_SECONDS,
        f"disorder of at most {MAX_DISORDER_S:.0f} s": disorder_s <= MAX_DISORDER_S,
    }
    return _section(creates | feedback, targets)


def _measure(kind: str, count: int, threads: int) -> Creates:
    arguments = (kind, str(count), str(threads), str(ADDED_MS))
    return Creates(**json.loads(run("-m", "benchmarks.create_process", *arguments)))


def _section(measured: dict[str, Creates], targets: dict[str, bool]) -> Section:
    met = "; ".join(
        f"{target} ({'met' if is_met else 'missed'})" for target, is_met in targets.items()
    )
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
            " 'Listed after' is the time from the last create until all customers are in the list,"
            " including the time to read all pages. Every run checks that each customer is listed"
            " once. 'Disorder' is the longest time by which a customer precedes an older one.",
            Table(
                (
                    "creates", "number", "rejected", "per second", "p50 ms", "slowest ms",
                    "CPU ms", "listed after", "requests each", "disorder",
                ),
                [_row(name, each) for name, each in measured.items()],
            ),
            f"Targets: {met}.",
        ],
    )  # fmt: skip


def _row(name: str, run: Creates) -> tuple[str, ...]:
    return (
        name,
        f"{run.count:,}",
        str(run.rejected),
        f"{run.per_second:,.0f}",
        f"{median(run.latencies_s) * 1000:,.0f}",
        f"{max(run.latencies_s) * 1000:,.0f}",
        f"{run.cpu_s / run.count * 1000:.2f} + {run.listing_cpu_s / run.count * 1000:.2f}",
        f"{run.listed_s:.1f} s",
        f"{run.requests / run.count:.1f}",
        f"{run.disorder_s:.2f} s",
    )
