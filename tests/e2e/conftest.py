"""The running local cloud that these tests go through: ``make e2e`` starts one of its own for them.

``E2E_DEMO`` names the demo's description of a running cloud, and its folder is the cloud's own.
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
        folder: where the cloud keeps its state, its log and its functions.
        stage: the stage that runs in it.
    """

    demo: Mapping[str, Any]
    folder: Path
    stage: str = STAGE

    @property
    def base_url(self) -> str:
        """The gateway's address, to which paths are added."""
        return str(self.demo["baseUrl"])

    @property
    def port(self) -> int:
        """The emulator's port."""
        port = urllib.parse.urlsplit(self.base_url).port
        assert port is not None
        return port

    @property
    def endpoint(self) -> str:
        """Where the emulator speaks AWS."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def emulator(self) -> Emulator:
        """The emulator's process: its id and port, whether it runs."""
        return Emulator(self.port, self.folder)

    def environment(self, stage: str = STAGE) -> dict[str, str]:
        """The environment for a process that is to use this cloud as its AWS."""
        return local_identity.environment(self.port, stage)

    def client(self, service: str) -> Any:
        """A boto3 client of this cloud, with every permission."""
        return boto3.client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.endpoint,
            region_name=local_identity.REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            aws_session_token=None,
        )

    def function_processes(self, function: str = "") -> list[int]:
        """The ids of the processes that run functions now.

        Args:
            function: its logical name (``APIHandler``, ``ImportCustomers``); all if empty.
        """
        marks = (str(self.emulator.temporary), f"-{function}-" if function else "ministack-lambda-")
        listed = subprocess.run(
            ["ps", "-eww", "-o", "pid=,args="], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        return [int(line.split()[0]) for line in listed if all(mark in line for mark in marks)]

    def resource_name(self, name: str) -> str:
        """The full name of a table or queue."""
        return f"feedback-{self.stage}-{name}"

    @cached_property
    def http(self) -> httpx.Client:
        """An HTTP client of the gateway, without credentials."""
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
