"""Fixtures for in-process tests of the app's HTTP interface."""

from collections.abc import Iterator
from io import StringIO

import pytest
from chalice.test import Client

from chalicelib.log import logger
from chalicelib.services.caching import clear_caches
from chalicelib.web.openapi import routes
from tests.web.loaded_account import LoadedAccount, load_records
from tests.web.partner_client import ROOT, Partner, new_partner


@pytest.fixture(scope="module")
def client(cloud: None) -> Iterator[Client]:
    """Return an HTTP client of the app."""
    from app import app

    clear_caches()
    with Client(app, stage_name="test", project_dir=str(ROOT)) as client:
        yield client
    clear_caches()


@pytest.fixture(scope="session")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Build the pages of the documentation for the app. Return their HTML by name."""
    from infrastructure.openapi import docs_pages

    folder = tmp_path_factory.mktemp("docs")
    docs_pages.write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "PAGES", folder)
        yield {file.stem: file.read_text(encoding="utf-8") for file in folder.iterdir()}


@pytest.fixture
def partner(client: Client) -> Partner:
    """Create an account and return a client with its credentials."""
    return new_partner(client)


@pytest.fixture
def loaded(partner: Partner) -> LoadedAccount:
    """Create an account with one resource of each kind."""
    return load_records(partner)


@pytest.fixture(scope="module")
def warm(client: Client) -> LoadedAccount:
    """Create an account shared by the tests of a module. Cache its credentials and names."""
    loaded = load_records(new_partner(client))
    loaded.partner.get(loaded.paths["contact form"])
    return loaded


@pytest.fixture(scope="module")
def known(client: Client) -> Partner:
    """Create an account shared by the tests of a module, and return a client for it."""
    return new_partner(client)


@pytest.fixture
def log() -> Iterator[StringIO]:
    """Capture the lines that the logger writes."""
    handler = logger.registered_handler
    written = StringIO()
    before = handler.setStream(written)  # type: ignore[attr-defined]
    yield written
    handler.setStream(before)  # type: ignore[attr-defined]
