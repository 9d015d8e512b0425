"""The running local cloud that these tests use. ``make e2e`` starts a temporary one.

``E2E_DEMO`` is the path of a running cloud's demo description; its folder is the cloud's folder.
"""

import json
import os
import subprocess
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from infrastructure.deployment.code_stack import STAGE
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import Emulator


@dataclass(frozen=True)
class Cloud:
    """A running local cloud.

    Attributes:
        demo: the demo's description: base URL, credentials, ids.
        folder: the folder of the cloud's state, log and functions.
        stage: the deployed stage.
    """

    demo: Mapping[str, Any]
    folder: Path
    stage: str = STAGE

    @property
    def base_url(self) -> str:
        """The gateway's base URL."""
        return str(self.demo["baseUrl"])

    @property
    def port(self) -> int:
        """The emulator's port."""
        port = urllib.parse.urlsplit(self.base_url).port
        assert port is not None
        return port

    @property
    def endpoint(self) -> str:
        """The emulator's AWS endpoint."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def emulator(self) -> Emulator:
        """The emulator's process."""
        return Emulator(self.port, self.folder)

    def environment(self, stage: str = STAGE) -> dict[str, str]:
        """Return the environment of a process that uses this cloud instead of AWS."""
        return local_identity.environment(self.port, stage)

    def client(self, service: str) -> Any:
        """Return a boto3 client of this cloud with all permissions."""
        return boto3.client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.endpoint,
            region_name=local_identity.REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            aws_session_token=None,
        )

    def function_processes(self, function: str = "") -> list[int]:
        """Return the ids of the processes that currently run functions.

        Args:
            function: the logical name (``APIHandler``, ``ImportCustomers``); all if empty.
        """
        marks = (str(self.emulator.temporary), f"-{function}-" if function else "ministack-lambda-")
        listed = subprocess.run(
            ["ps", "-eww", "-o", "pid=,args="], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        return [int(line.split()[0]) for line in listed if all(mark in line for mark in marks)]

    def resource_name(self, name: str) -> str:
        """Return the full name of a table or queue."""
        return f"feedback-{self.stage}-{name}"

    @cached_property
    def http(self) -> httpx.Client:
        """Return an HTTP client of the gateway without credentials."""
        return httpx.Client(base_url=self.base_url, timeout=30, trust_env=False)


@pytest.fixture(scope="session")
def cloud() -> Any:
    """The local cloud under test."""
    description = os.environ.get("E2E_DEMO")
    if not description:
        pytest.fail("There is no cloud to test: run make e2e, or set E2E_DEMO to a demo.json.")
    path = Path(description).resolve()
    cloud = Cloud(demo=json.loads(path.read_text()), folder=path.parent)
    yield cloud
    cloud.http.close()
