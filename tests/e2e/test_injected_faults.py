"""Load test with injected faults: throttling, transaction conflicts and outdated indexes."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.cloud import Cloud
from tests.e2e.faults import injected_faults
from tests.e2e.importer import Importer, issue_key
from tests.e2e.receiver_process import ReceiverProcess
from tests.e2e.sweeping import sweep_until_finished
from tests.e2e.test_imports import rows
from tests.e2e.test_public_load import feedback_rows
from tests.e2e.test_webhooks import executions, tenant

SUBMISSIONS = 150
CREATES = 60
IMPORTS = 6
ROWS = 200
RATES = {"throttling": 0.1, "conflicts": 0.1, "index_lag": 0.1}
MAX_WAIT_S = 480


def submission_count(cloud: Cloud, account_id: str, survey_id: str) -> int:
    response = cloud.http.get(
        "/partners/survey", params={"id": survey_id}, headers=issue_key(cloud, account_id)
    )
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

    started = time.monotonic()
    with (
        injected_faults(cloud, **RATES) as injected,
        ThreadPoolExecutor(3) as submitting,
        ThreadPoolExecutor(2) as creating,
        ThreadPoolExecutor(1) as importing,
    ):
        load = [
            submitting.map(owner.submit, range(SUBMISSIONS)),
            creating.map(create, range(CREATES)),
            importing.map(import_rows, range(IMPORTS)),
        ]
        for results in load:
            list(results)
    ended = time.monotonic()

    def unfinished() -> Counter[str]:
        return Counter(
            {
                "feedback": SUBMISSIONS
                - sum(
                    row["form_id"] == owner.survey_id and row["state"] == "DONE"
                    for row in feedback_rows(cloud)
                ),
                "webhooks": SUBMISSIONS
                - sum(row["state"] == "SUCCEEDED" for row in executions(cloud, owner.id)),
                "customers": CREATES + IMPORTS * ROWS - partner.list_page(1)["meta"]["totalItems"],
                "imports": sum(not partner.progress(i).get("completedAt") for i in imports),
            }
        )

    try:
        sweep_until_finished(cloud, lambda: unfinished().total(), MAX_WAIT_S)
    finally:
        print(  # noqa: T201 - report measurements
            f"\n{SUBMISSIONS} submissions, {CREATES} creates and {IMPORTS} imports of {ROWS} rows"
            f" in {ended - started:.0f} s; injected {injected}; unfinished {dict(unfinished())}"
            f" {time.monotonic() - ended:.0f} s later"
        )
    assert all(injected[kind] for kind in RATES)
    for import_id in imports:
        progress = partner.progress(import_id)
        assert (progress["status"], progress["created"]) == ("COMPLETED", ROWS)
    assert len(partner.all_customers()) == CREATES + IMPORTS * ROWS
    assert submission_count(cloud, owner.id, owner.survey_id) == SUBMISSIONS
    assert len(executions(cloud, owner.id)) == SUBMISSIONS
    assert len({line["id"] for line in receiver_process.lines()}) == SUBMISSIONS
