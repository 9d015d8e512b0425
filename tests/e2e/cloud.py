"""Access a running local cloud: its address, its AWS clients and its function processes."""

import re
import subprocess
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx

from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import Emulator

STAGE = "local"
TIMEOUT_S = 120
"""The time-out of a request in seconds, long enough for a slow machine."""


@cache
def _client(service: str, endpoint: str) -> Any:
    return boto3.client(
        service,  # type: ignore[call-overload]
        endpoint_url=endpoint,
        region_name=local_identity.REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        aws_session_token=None,
    )


@dataclass(frozen=True)
class Cloud:
    """A running local cloud.

    Attributes:
        demo: the base URL, the credentials and the ids of the demo data.
        folder: the folder with the state, the log and the functions of the local cloud.
        stage: the name of the deployed stage.
    """

    demo: Mapping[str, Any]
    folder: Path
    stage: str = STAGE

    @property
    def base_url(self) -> str:
        """The scheme, host and port of the gateway, without a path."""
        return str(self.demo["baseUrl"])

    @property
    def port(self) -> int:
        """The port of the emulator."""
        port = urllib.parse.urlsplit(self.base_url).port
        assert port is not None
        return port

    @property
    def endpoint(self) -> str:
        """The URL that AWS clients use as endpoint."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def emulator(self) -> Emulator:
        """The process id of the emulator."""
        return Emulator(self.port, self.folder)

    def environment(self) -> dict[str, str]:
        """Return environment variables that make a process use this stage instead of AWS."""
        return local_identity.environment(self.endpoint, self.stage)

    def client(self, service: str) -> Any:
        """Return a boto3 client for this cloud. The client has all permissions."""
        return _client(service, self.endpoint)

    def function_processes(self, function: str = "") -> list[int]:
        """Return the ids of the processes that run functions.

        Args:
            function: the name of one function in the manifest, for example ``api_handler``; empty
                for all.
        """
        name = "" if function in ("", "api_handler") else f"-{function}"
        folder = f"{self.emulator.temporary}/ministack-lambda-feedback-{self.stage}{name}"
        # The emulator adds a random text to the name of the function.
        pattern = re.compile(re.escape(folder) + (r"-\w+/" if function else ""))
        process_lines = subprocess.run(
            ["ps", "-eww", "-o", "pid=,args="], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        return [int(line.split()[0]) for line in process_lines if pattern.search(line)]

    def resource_name(self, name: str) -> str:
        """Return the full name of a table or queue. It contains the name of the stage."""
        return f"feedback-{self.stage}-{name}"

    @cached_property
    def http(self) -> httpx.Client:
        """An HTTP client that calls the gateway without credentials."""
        return httpx.Client(base_url=self.base_url, timeout=TIMEOUT_S, trust_env=False)
