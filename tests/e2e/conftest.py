"""Fixtures for tests of a running local cloud. ``make e2e`` starts local clouds for them.

To test another running local cloud, set ``E2E_DEMO`` to the path of its ``demo.json`` file.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import schemathesis

from infrastructure.deployment.code_package import PROJECT
from tests.e2e.cloud import Cloud
from tests.e2e.importer import Importer, create_importer
from tests.e2e.public_forms import PublicForms
from tests.e2e.receiver_process import ReceiverProcess, free_port

DEPLOYED_STAGE = "test"


@pytest.fixture(scope="session")
def cloud() -> Any:
    """Return the local cloud under test."""
    description = os.environ.get("E2E_DEMO")
    if not description:
        pytest.fail("No cloud to test. Run make e2e, or set E2E_DEMO to a demo.json.")
    path = Path(description).resolve()
    cloud = Cloud(demo=json.loads(path.read_text()), folder=path.parent)
    yield cloud
    cloud.http.close()


@pytest.fixture(scope="module")
def forms(cloud: Cloud) -> PublicForms:
    """Return a client for the public forms of the demo account."""
    return PublicForms(cloud)


@pytest.fixture
def receiver_process(tmp_path: Path) -> Iterator[ReceiverProcess]:
    """Start a webhook receiver in a separate process."""
    receiver_process = ReceiverProcess.start(free_port(), tmp_path / "received.jsonl")
    yield receiver_process
    receiver_process.stop()


@pytest.fixture
def new_importer(cloud: Cloud) -> Iterator[Callable[[], Importer]]:
    """Return a function that creates an account and returns an import client for it."""
    with ExitStack() as clients:
        yield lambda: create_importer(cloud, clients)


@pytest.fixture(scope="module")
def openapi_schema(cloud: Cloud) -> Any:
    """Load the OpenAPI document from the gateway."""
    return schemathesis.openapi.from_url(f"{cloud.base_url}/openapi.json")


@pytest.fixture(scope="module")
def credentials(cloud: Cloud) -> dict[str, str]:
    """Return the request headers with the demo partner's credentials."""
    return {"X-API-KEY": cloud.demo["apiKey"], "X-API-SECRET": cloud.demo["apiSecret"]}


@pytest.fixture(scope="module")
def deployment(cloud: Cloud) -> Iterator[str]:
    """Deploy a second stage with a firewall and return the output of the deployment command.

    Finally, delete its code as an operator would do it.
    """
    functions = cloud.client("lambda").list_functions()["Functions"]
    if f"feedback-{DEPLOYED_STAGE}" in {function["FunctionName"] for function in functions}:
        pytest.skip("An earlier run deployed this stage; the emulator deploys it only once.")
    command = [sys.executable, "-m", "infrastructure.deployment.deploy"]
    result = subprocess.run(
        [*command, "--stage", DEPLOYED_STAGE, "--firewall", "yes"],
        cwd=PROJECT,
        env=cloud.environment(DEPLOYED_STAGE),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    yield result.stdout
    chalice = [PROJECT / ".venv" / "bin" / "chalice", "delete", "--stage", DEPLOYED_STAGE]
    subprocess.run(chalice, cwd=PROJECT, env=cloud.environment(DEPLOYED_STAGE), check=True)
    names = {f["FunctionName"] for f in cloud.client("lambda").list_functions()["Functions"]}
    assert [name for name in names if name.startswith(f"feedback-{DEPLOYED_STAGE}")] == []
    name = f"feedback-{DEPLOYED_STAGE}-data"
    stack = cloud.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    assert stack["StackStatus"].endswith("_COMPLETE")
