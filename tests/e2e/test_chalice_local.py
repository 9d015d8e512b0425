"""Tests of `chalice local` next to a running local cloud, without any preparation."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from infrastructure.deployment.code_package import PROJECT
from tests.e2e.cloud import Cloud
from tests.e2e.receiver_process import free_port
from tests.local_server import Response, serving
from tests.waiting import wait_until

FOREIGN = {
    "AWS_PROFILE": "no-such-profile",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "foreign",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": "https://aws.invalid",
    "AWS_ENDPOINT_URL_DYNAMODB": "https://dynamodb.invalid",
    "STAGE": "prod",
}
Serve = Callable[..., httpx.Client]


@contextmanager
def chalice_local(output: Path, *options: str, **variables: str) -> Iterator[httpx.Client]:
    port = free_port()
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "STAGE"))}
    with output.open("wb") as log:
        process = subprocess.Popen(
            [PROJECT / ".venv" / "bin" / "chalice", "local", "--port", str(port), *options],
            cwd=PROJECT,
            env=inherited | {"PYTHONUNBUFFERED": "1"} | variables,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until(lambda: f"Serving on http://127.0.0.1:{port}" in output.read_text())
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            yield client
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@pytest.fixture
def serve(cloud: Cloud, tmp_path: Path) -> Iterator[Serve]:
    """Return a function that starts `chalice local` and returns a client for it."""
    with ExitStack() as servers:

        def start(*options: str, **variables: str) -> httpx.Client:
            state = {"STATE_DIR": str(cloud.folder)}
            server = chalice_local(tmp_path / "output", *options, **state, **variables)
            return servers.enter_context(server)

        yield start


def test_routes_use_data_of_running_cloud(
    cloud: Cloud, credentials: dict[str, str], serve: Serve
) -> None:
    client, demo = serve(**FOREIGN), cloud.demo
    partner, form, survey = credentials, demo["contactFormId"], demo["surveyId"]
    statuses = {
        path: client.request(method, path, headers=headers, json=body).status_code
        for method, path, headers, body in [
            ("POST", "/partners/customer/list", partner, {}),
            ("GET", f"/partners/customer?id={demo['customerId']}", partner, None),
            ("GET", f"/partners/purchase?id={demo['purchaseId']}", partner, None),
            ("GET", f"/public/contact-form?id={form}", {}, None),
            ("GET", f"/public/survey/page?survey={survey}", {}, None),
            ("GET", "/openapi.json", {}, None),
            ("GET", "/docs/purchases", {}, None),
        ]
    }
    assert set(statuses.values()) == {200, 201}, statuses


def test_routes_are_served_after_reload(
    cloud: Cloud, credentials: dict[str, str], serve: Serve, tmp_path: Path
) -> None:
    client = serve(**FOREIGN)
    os.utime(PROJECT / "app.py")
    output = tmp_path / "output"
    wait_until(lambda: output.read_text().count("Serving on") == 2)
    response = client.post("/partners/customer/list", headers=credentials, json={})
    assert response.status_code == 201


@pytest.mark.parametrize(
    ("options", "key", "table"),
    [
        (["--stage", "dev"], "AKIAIOSFODNN7EXAMPLE", "feedback-dev-credentials"),
        ([], "test", "feedback-local-credentials"),
    ],
    ids=["chosen-stage", "no-stage"],
)
def test_loopback_endpoint_is_used_and_only_option_changes_stage(
    credentials: dict[str, str], serve: Serve, options: list[str], key: str, table: str
) -> None:
    received: list[tuple[str, str]] = []

    def reject(_method: str, _path: str, headers: Mapping[str, str], body: bytes) -> Response:
        received.append((headers["Authorization"], body.decode()))
        return 400, {}, b""

    with serving(reject) as port:
        keys = {k: FOREIGN[k] for k in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        url = f"http://127.0.0.1:{port}"
        client = serve(*options, **keys, AWS_DEFAULT_REGION="eu-west-1", AWS_ENDPOINT_URL=url)
        client.post("/partners/customer/list", headers=credentials, json={})
    authorization, body = received[0]
    assert f"Credential={key}/" in authorization
    assert table in body
