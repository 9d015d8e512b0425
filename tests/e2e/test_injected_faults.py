"""Load test with injected faults: throttling, transaction conflicts and outdated indexes."""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.faults import injected_faults
from tests.e2e.importer import Importer
from tests.e2e.public_forms import wait_until
from tests.e2e.receiver_process import ReceiverProcess
from tests.e2e.test_imports import rows
from tests.e2e.test_public_load import feedback_rows
from tests.e2e.test_webhooks import executions, tenant

LOAD_S = 45
ROWS = 200
RATES = {"throttling": 0.1, "conflicts": 0.1, "index_lag": 0.1}
MAX_WAIT_S = 480

# Deferred work becomes due after minutes, so the sweep runs with a clock that is ahead.
_SWEEP = """
from datetime import timedelta
from chalicelib.domain import clock
real = clock.now
clock.now = lambda: real() + timedelta(minutes=7)
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.services.work.sweep import sweep
for work in ALL_WORK:
    sweep(work)
"""


def sweep_ahead_of_time(cloud: Cloud) -> None:
    subprocess.run([sys.executable, "-c", _SWEEP], env=cloud.environment(), check=True)


def repeat(action: Callable[[int], None]) -> int:
    """Run the action repeatedly for `LOAD_S` seconds and return the number of runs."""
    deadline = time.monotonic() + LOAD_S
    runs = 0
    while time.monotonic() < deadline:
        action(runs)
        runs += 1
    return runs


def submission_count(cloud: Cloud, account_id: str, survey_id: str) -> int:
    issued = admin(cloud, "key", "issue", account_id)
    key = re.search(r"fk_[0-9a-f]{24}", issued)
    secret = re.search(r"\b[\w-]{43}\b", issued)
    assert key
    assert secret
    headers = {"X-API-KEY": key[0], "X-API-SECRET": secret[0]}
    response = cloud.http.get("/partners/survey", params={"id": survey_id}, headers=headers)
    return int(response.json()["submissionCount"])


def test_accepted_work_finishes_despite_injected_faults(
    cloud: Cloud,
    new_importer: Callable[[], Importer],
    receiver_process: ReceiverProcess,
    tmp_path: Path,
) -> None:
    owner = tenant(cloud, tmp_path, receiver_process.url("/healthy"))
    partner = new_importer()
    imports: list[str] = []

    def create(number: int) -> None:
        partner.post("/partners/customer", {"firstName": "Single", "lastName": str(number)})

    def import_rows(number: int) -> None:
        imports.append(partner.import_rows(rows(ROWS, f"import{number}-")))
        time.sleep(2)

    with injected_faults(cloud, **RATES) as injected, ThreadPoolExecutor() as pool:
        submitting = [pool.submit(repeat, owner.submit) for _ in range(3)]
        creating = [pool.submit(repeat, create) for _ in range(2)]
        importing = pool.submit(repeat, import_rows)
        submitted = sum(future.result() for future in submitting)
        created = sum(future.result() for future in creating)
        importing.result()
    ended = time.monotonic()

    def unfinished() -> Counter[str]:
        return Counter(
            {
                "feedback": submitted
                - sum(
                    row["form_id"] == owner.survey_id and row["state"] == "DONE"
                    for row in feedback_rows(cloud)
                ),
                "webhooks": submitted
                - sum(row["state"] == "SUCCEEDED" for row in executions(cloud, owner.id)),
                "imports": sum(not partner.progress(i).get("completedAt") for i in imports),
            }
        )

    def is_finished() -> bool:
        if not unfinished().total():
            return True
        sweep_ahead_of_time(cloud)
        time.sleep(5)
        return False

    try:
        wait_until(is_finished, MAX_WAIT_S)
    finally:
        print(  # noqa: T201 - report measurements
            f"\n{submitted} submissions, {created} creates and {len(imports)} imports of {ROWS}"
            f" rows in {LOAD_S} s; injected {injected}; unfinished {dict(unfinished())}"
            f" {time.monotonic() - ended:.0f} s later"
        )
    assert all(injected[kind] for kind in RATES)
    assert submitted
    assert created
    for import_id in imports:
        progress = partner.progress(import_id)
        assert (progress["status"], progress["created"]) == ("COMPLETED", ROWS)
    assert len(partner.all_customers()) == created + len(imports) * ROWS
    assert submission_count(cloud, owner.id, owner.survey_id) == submitted
    assert len(executions(cloud, owner.id)) == submitted
    assert len({line["id"] for line in receiver_process.lines()}) == submitted
