"""Test that accepted work of all kinds is done once, although functions are killed and AWS fails.

Respondents submit answers, a partner creates and imports customers, and webhooks are sent, all at
the same time and in one account.
"""

import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

from chalicelib.queues import IMPORTS, WEBHOOKS
from infrastructure.local_cloud.strict.signature import verify
from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.importer import Importer, customer_rows, open_importer
from tests.e2e.injected_faults import injected_faults
from tests.e2e.queue_settings import early_redelivery, few_processes
from tests.e2e.receiver_process import ReceiverProcess
from tests.e2e.sweeping import end_waits, sweep_until_finished
from tests.e2e.tenant import Tenant, create_tenant

SUBMISSIONS = 90
RESPONDENTS = 15
CREATES = 30
ROWS = (240, 60, 60)
"""The number of rows of each import."""
RATES = {"throttling": 0.1, "conflicts": 0.1, "index_lag": 0.1}
KILLED = ("api_handler", "import_customers", "process_feedback", "send_webhook")
KILLED_AT_ONCE = 3
"""Number of processes of each function that are killed at once. The emulator replaces them."""
KILLED_AT = (0.2, 0.5, 0.8)
"""The shares of the submissions, from 0 to 1, at which functions are killed."""
MAX_WAIT_S = 600


@contextmanager
def killed_functions(cloud: Cloud, receiver: ReceiverProcess) -> Iterator[Counter[str]]:
    """Kill functions and the receiver during the ``with`` block. Yield the numbers of kills."""
    killed: Counter[str] = Counter()
    ended: list[bool] = []

    def kill() -> None:
        for share in KILLED_AT:
            while len(receiver.lines()) < share * SUBMISSIONS and not ended:
                time.sleep(0.05)
            for function in KILLED:
                for process in cloud.function_processes(function)[:KILLED_AT_ONCE]:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                        killed[function] += 1
            receiver.kill_and_restart()

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.append(True)
        thread.join()


def test_accepted_work_is_done_once_despite_kills_and_injected_faults(
    cloud: Cloud, receiver_process: ReceiverProcess, tmp_path: Path
) -> None:
    owner = create_tenant(cloud, tmp_path, receiver_process.url("/flaky"))
    with ExitStack() as clients:
        partner = open_importer(cloud, clients, owner.id)
        with (
            injected_faults(cloud, **RATES) as injected,
            early_redelivery(cloud, IMPORTS),
            few_processes(cloud, WEBHOOKS),
            killed_functions(cloud, receiver_process) as killed,
        ):
            imports = send_load(owner, partner)
        loaded_at = time.time()
        assert killed.keys() == set(KILLED)
        assert all(injected[kind] for kind in RATES)
        sweep_until_finished(
            lambda: unfinished(owner, partner, imports).total(),
            MAX_WAIT_S,
            lambda: [end_waits(cloud, "executions", a) for a in ("leased_until", "not_before")],
        )
        check_customers(partner, imports)
    check_webhooks(owner, receiver_process, loaded_at)
    counts = admin(cloud, "account", "stats", owner.id, "--json")
    assert f'"feedback": {SUBMISSIONS}' in counts
    admin(cloud, "recount", owner.id)  # fails if a count differs from the records


def send_load(owner: Tenant, partner: Importer) -> dict[str, int]:
    """Send all requests until they are accepted. Return the number of rows by id of the import."""

    def create(number: int) -> None:
        partner.post("/partners/customer", {"firstName": "Single", "lastName": str(number)})

    def import_rows(number: int) -> str:
        return partner.import_rows(customer_rows(ROWS[number], f"import{number}-"))

    addresses = [f"respondent{n % RESPONDENTS}@example.test" for n in range(SUBMISSIONS)]
    with (
        ThreadPoolExecutor(3) as submitting,
        ThreadPoolExecutor(2) as creating,
        ThreadPoolExecutor(1) as importing,
    ):
        submitted = submitting.map(owner.submit, addresses)
        created = creating.map(create, range(CREATES))
        imports = list(importing.map(import_rows, range(len(ROWS))))
        list(submitted)
        list(created)
    return dict(zip(imports, ROWS, strict=True))


def unfinished(owner: Tenant, partner: Importer, imports: dict[str, int]) -> Counter[str]:
    """Return the number of records of each kind whose work is not finished."""
    survey = partner.http.get("/partners/survey", params={"id": owner.survey_id}).json()
    succeeded = sum(row["state"] == "SUCCEEDED" for row in owner.executions())
    listed = partner.list_page(1)["meta"]["totalItems"]
    return Counter(
        feedback=SUBMISSIONS - survey["submissionCount"],
        webhooks=SUBMISSIONS - succeeded,
        customers=CREATES + sum(ROWS) + RESPONDENTS - listed,
        imports=sum(not partner.progress(each).get("completedAt") for each in imports),
    )


def check_customers(partner: Importer, imports: dict[str, int]) -> None:
    for import_id, rows in imports.items():
        progress = partner.progress(import_id)
        assert (progress["status"], progress["created"]) == ("COMPLETED", rows)
    names = Counter(customer["firstName"] for customer in partner.all_customers())
    assert names.pop("Single") == CREATES
    assert names.pop(None) == RESPONDENTS
    assert set(names.values()) == {1}
    assert len(names) == sum(ROWS)


def check_webhooks(owner: Tenant, receiver: ReceiverProcess, loaded_at: float) -> None:
    """Check that each webhook has arrived. One that has arrived twice must be marked.

    A webhook that the receiver has rejected is sent again after a minute, or after ``loaded_at``,
    when the test ends the delays.
    """
    requests: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in receiver.lines():
        requests[line["id"]].append(line)
        stamp, body = line["timestamp"], line["body"].encode()
        verify(owner.secret, stamp, line["signature"], body, int(stamp))
    rows = owner.executions()
    assert len(rows) == SUBMISSIONS
    assert {row["execution_id"] for row in rows} == requests.keys()
    for execution_id, lines in requests.items():
        assert lines[-1]["status"] == 200
        for rejected, repeated in pairwise(lines):
            is_due = repeated["at"] > min(rejected["at"] + 60, loaded_at)
            assert is_due or rejected["status"] == 200
        if [line["status"] for line in lines].count(200) > 1:
            *attempts, execution = owner.rows_of(execution_id)
            assert attempts[-1]["repeat"] is True
            assert lines[-1]["at"] <= datetime.fromisoformat(execution["ended_at"]).timestamp()
