"""Fixtures for tests of the OpenAPI document."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from chalice.test import Client

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from chalicelib.storage import customer_creation
from infrastructure.demo.load import load
from tests.web.partner_client import ROOT, Partner, new_partner

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def respondent() -> Iterator[Partner]:
    """Return a client without credentials."""
    from app import app

    with Client(app, stage_name="test", project_dir=str(ROOT)) as client:
        yield Partner(client, "")


@pytest.fixture(scope="module")
def demo_client(
    client: Client, docs: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Client:
    """Load the demo data, and return an HTTP client of the app, which also serves the pages."""
    output = tmp_path_factory.mktemp("demo") / "demo.json"
    load("https://service", output, "https://crm.example.com/webhooks", "https://service/messages")
    clear_caches()
    return client


@pytest.fixture(scope="module")
def with_customers(client: Client) -> Partner:
    """Create an account with customers and return a client with its credentials."""
    partner = new_partner(client)
    for number in range(3):
        customer = Customer(id=new_id(), created_at=NOW, updated_at=NOW, first_name=f"C{number}")
        customer_creation.create(partner.account_id, customer)
    return partner
