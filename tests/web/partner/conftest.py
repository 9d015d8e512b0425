"""Fixtures of tests of purchases and surveys."""

import pytest
from chalice.test import Client

from chalicelib.services.solicitation import send_survey
from tests.services.moved_time import Time
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import open_shop
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner, new_partner, with_permissions


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    provider = Provider()
    monkeypatch.setattr(send_survey, "send_invitation", provider.send)
    return provider


@pytest.fixture
def own(client: Client, time: Time, provider: Provider) -> Reporter:
    shop = open_shop()
    reporter = Reporter(shop, with_permissions(Partner(client, shop.account_id)))
    reporter.partner.post("/partners/place/list", {})
    return reporter


@pytest.fixture
def foreign(client: Client) -> Partner:
    return new_partner(client)
