"""Measure how long users of a cold and of a warm function wait: the packaged app, read-only."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final
from zipfile import ZipFile

from cryptography.hazmat.primitives.serialization import Encoding

from app import app
from benchmarks import sample_account
from benchmarks.gateway_event import ACCOUNT_ID, Event, LambdaContext, gateway_event, submission
from benchmarks.memory_cloud import CloudClient, connect_to, running_cloud
from benchmarks.queue_functions import received
from benchmarks.report import Section, Table, met
from chalicelib.domain.customers.listing import ListingPointer
from chalicelib.domain.ids import new_id
from chalicelib.messages import encode
from chalicelib.queues import FEEDBACK, IMPORTS, LISTING, PURCHASES, Queue
from chalicelib.services.forms.cached_forms import get_survey
from chalicelib.services.purchases.record import PurchaseMessage
from infrastructure.deployment import code_package
from infrastructure.deployment.dependencies import THIS_MACHINE
from tests.local_server import Response, serving
from tests.outbound.certificates import authority, server_tls

ROUNDS: Final = 7
LIBRARIES: Final = "import of chalice, boto3, pydantic and pynamodb alone"
IMPORT_BUDGET: Final = 1.25
"""Target: the maximum ratio of the app's import to the import of its libraries."""
PAGE: Final = "survey page"
PAGE_BUDGET_MS: Final = 200
"""Target: the maximum CPU time of the first page after the import."""
# The last line of the output contains the cells of a row, with times in milliseconds.
_PROGRAM: Final = r"""
import json, pathlib, re, sys, time
folder, handler, event = json.load(sys.stdin)
sys.path.insert(0, folder)
class Context:
    function_name, memory_limit_in_mb, aws_request_id = "feedback-bench", 1024, "b2d9c8a7"
    invoked_function_arn = "arn:aws:lambda:eu-west-1:123456789012:function:feedback-bench"
    get_remaining_time_in_millis = staticmethod(lambda: 20_000)
def spent(function):
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
def load():
    if handler is None:
        import chalice, boto3, pydantic, pynamodb.models
        return lambda event, context: {}
    import app
    return getattr(app, handler)
handle, import_wall, import_cpu = spent(load)
response, first_wall, first_cpu = spent(lambda: handle(event, Context()))
assert response.get("statusCode", 200) < 300 and not response.get("batchItemFailures"), response
memory = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())
warm, calls = 0, {}
if handler == "app":
    from chalicelib.aws_calls import counted_calls
    with counted_calls() as calls:
        warm = sorted(spent(lambda: handle(event, Context()))[2] for _ in range(21))[10]
print(json.dumps([import_cpu, first_cpu, import_cpu + first_cpu, warm, sum(calls.values()) // 21,
    int(memory[1]) / 1024, import_wall + first_wall]))
"""


def measure() -> Section:
    """Start a process for each request, in interleaved rounds. Return the medians."""
    samples: dict[str, list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as name, running_cloud() as cloud:
        folder = Path(name)
        package = code_package.package("local", folder / "build", THIS_MACHINE).archive
        with ZipFile(package) as archive:
            archive.extractall(folder / "code")
        for path in [folder / "code", *(folder / "code").rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        connect_to(cloud)
        rounds = _prepare_rounds()
        trusted = (folder / "code" / "botocore" / "cacert.pem").read_bytes()
        with _https(cloud, trusted, folder / "certificates.pem") as environment:
            for requests in rounds:
                for request, (handler, event) in requests.items():
                    sample = _run(folder / "code", handler, event, environment)
                    samples.setdefault(request, []).append(sample)
        return _section(samples, package.stat().st_size)


def _prepare_rounds() -> list[dict[str, tuple[str | None, Event]]]:
    """Create the sample account. Return a handler and its event by request, for each round."""
    sample = sample_account.load()
    get = partial(gateway_event, "GET", headers=sample.headers)
    post = partial(gateway_event, "POST", headers=sample.headers)
    (purchase, *_) = sample_account.demo("purchase")
    survey = sample_account.SURVEY_ID
    rating = get_survey(survey).saved.fields[0].id
    answers = json.dumps({"id": rating, "values": ["9"]})
    submit = submission("/public/survey/submit", ("id", survey), ("fields", answers))
    prepared = []
    for _ in range(ROUNDS):
        headers = sample.headers | {"Idempotency-Key": new_id()}
        customer = {"firstName": "Zoé", "email": f"zoe.{new_id()}@example.com"}
        api: dict[str, Event] = {
            "GET customer": get("/partners/customer", query={"id": sample.customer_id}),
            "POST customer": post("/partners/customer", headers=headers, body=customer),
            "survey": gateway_event("GET", "/public/survey", query={"survey": survey}),
            PAGE: gateway_event("GET", "/public/survey/page", query={"survey": survey}),
            "submit a survey": submit,
        }
        batch = post("/partners/customer/batch", body={"batch": [{"email": customer["email"]}]})
        bought = PurchaseMessage(ACCOUNT_ID, purchase | {"externalId": new_id()})
        functions: dict[str, Event] = {
            "process_feedback": _message(FEEDBACK, _queued(FEEDBACK, submit)),
            "record_purchase": _message(PURCHASES, encode(bought)),
            "import_customers": _message(IMPORTS, _queued(IMPORTS, batch)),
            "assign_positions": _message(LISTING, encode(ListingPointer(ACCOUNT_ID, 0))),
        }
        requests: dict[str, tuple[str | None, Event]] = {LIBRARIES: (None, {})}
        requests |= {name: ("app", event) for name, event in api.items()}
        prepared.append(requests | {name: (name, event) for name, event in functions.items()})
    return prepared


def _queued(queue: Queue, request: Event) -> str:
    """Send a request to the app. Return the body of the message that it queues."""
    assert app(request, LambdaContext())["statusCode"] < 300
    ((body,),) = received(queue)
    return body


def _message(queue: Queue, body: str) -> Event:
    """Return the event of a message."""
    arn = f"arn:aws:sqs:eu-west-1:123456789012:{queue.name}"
    record = {"messageId": "1", "receiptHandle": "1", "body": body}
    return {"Records": [record | {"eventSource": "aws:sqs", "eventSourceARN": arn}]}


def _run(
    folder: Path, handler: str | None, event: Event, environment: dict[str, str]
) -> list[float]:
    """Start the function in a new process. Return the cells of its row."""
    output = subprocess.check_output(
        [sys.executable, "-I", "-S", "-B", "-c", _PROGRAM],
        input=json.dumps([str(folder), handler, event]),
        env=environment,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    cells: list[float] = json.loads(output.splitlines()[-1])
    return cells


@contextmanager
def _https(cloud: Path, trusted: bytes, certificates: Path) -> Iterator[dict[str, str]]:
    """Serve the cloud over HTTPS. Yield the environment variables of a function that uses it.

    A client loads the certificates that it loads on AWS, and the one of this server.
    """
    client = CloudClient(cloud)

    def respond(_method: str, _path: str, headers: Mapping[str, str], body: bytes) -> Response:
        return client.exchange(headers["X-Amz-Target"].rpartition(".")[2], body)

    certificates.write_bytes(trusted + authority()[1].public_bytes(Encoding.PEM))
    unset = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
    with serving(respond, server_tls("127.0.0.1")) as port:
        yield {name: value for name, value in os.environ.items() if name not in unset} | {
            "AWS_ENDPOINT_URL": f"https://127.0.0.1:{port}",
            "AWS_CA_BUNDLE": str(certificates),
            "SUBMISSIONS": "1000000000",
        }


def _section(samples: dict[str, list[list[float]]], package_bytes: int) -> Section:
    medians = {name: list(map(median, zip(*rows, strict=True))) for name, rows in samples.items()}
    imports = [row[0] for name, row in medians.items() if name != LIBRARIES]
    ratio = median(imports) / medians[LIBRARIES][0]
    target = {
        f"the import of the app takes at most {IMPORT_BUDGET} times that of its libraries,"
        f" measured {ratio:.2f}": ratio <= IMPORT_BUDGET,
        f"the first page takes at most {PAGE_BUDGET_MS} ms after the import": medians[PAGE][1]
        <= PAGE_BUDGET_MS,
    }
    return Section(
        "Cold and warm functions",
        [
            Table(
                {"request": "", "import, ms": ".0f", "first response, ms": ".0f"}
                | {"together, ms": ".0f", "warm, ms": ".1f", "AWS requests": ".0f"}
                | {"memory, MB": ".0f", "wall time of a cold start, ms": ".0f"},
                [(name, *row) for name, row in medians.items()],
            ),
            f"The packaged app ({package_bytes / 1e6:.1f} MB) in a folder that only can be read,"
            f" in a new process for each request: medians of {ROUNDS} interleaved rounds, CPU time"
            " unless stated otherwise. The process imports the app and responds to one event, then"
            " to the same event again; 'warm' is the median of these 21 responses. It sends its"
            " AWS requests over HTTPS to another process, which keeps the tables in memory."
            " 'memory' is the largest resident size until the first response. Each function of a"
            " queue processes one message. `send_webhook`, `send_survey`, `erase_customer` and"
            " `process_message_events` are not measured, nor is `sweep`, which runs each minute.",
            f"Targets: {met(target)}.",
        ],
    )
