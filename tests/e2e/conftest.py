"""Fixtures for tests of a running local cloud. ``make e2e`` starts local clouds for them.

To test another running local cloud, set ``E2E_DEMO`` to the path of its ``demo.json`` file.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import schemathesis

from chalicelib.settings import settings
from infrastructure.local_cloud import identity as local_identity
from tests.e2e.cloud import STAGE, Cloud
from tests.e2e.importer import Importer, create_importer
from tests.e2e.public_forms import PublicForms
from tests.e2e.receiver_process import ReceiverProcess, free_port
from tests.e2e.shop import Shop, open_shop


def pytest_configure(config: pytest.Config) -> None:
    """Accept that AWS clients of the service, which run in this process, close no connection."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")
    # The line applies during tests. Python collects some clients after the last test.
    warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)


@pytest.fixture(scope="session")
def cloud() -> Any:
    """Return the local cloud under test."""
    description = os.environ.get("E2E_DEMO")
    if not description:
        pytest.fail("No cloud to test. Run make e2e, or set E2E_DEMO to a demo.json.")
    path = Path(description).resolve()
    cloud = Cloud(demo=json.loads(path.read_text()), folder=path.parent)
    # The command line and the sweep run in this process.
    local_identity.adopt(cloud.endpoint, STAGE)
    settings.cache_clear()
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
def shop(cloud: Cloud, tmp_path: Path) -> Iterator[Shop]:
    """Create an account with an API key and a webhook secret."""
    shop = open_shop(cloud, tmp_path)
    yield shop
    shop.http.close()


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
