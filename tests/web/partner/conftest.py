"""Fixtures of tests of purchases, surveys and feedback."""

import pytest
from chalice.test import Client

from chalicelib.services.caching import clear_caches
from tests.services.moved_time import Time
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import open_shop
from tests.web.partner.answered import Answered
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner, new_partner, with_permissions
from tests.web.seeded_account import seed_account


@pytest.fixture
def own(client: Client, time: Time, provider: Provider) -> Reporter:
    shop = open_shop(provider, time)
    reporter = Reporter(shop, with_permissions(Partner(client, shop.account_id)))
    reporter.partner.post("/partners/place/list", {})
    return reporter


@pytest.fixture
def foreign(client: Client) -> Partner:
    return new_partner(client)


@pytest.fixture
def answered(client: Client) -> Answered:
    clear_caches()
    seeded = seed_account()
    partner = with_permissions(Partner(client, seeded.account_id))
    return Answered(**vars(seeded), partner=partner)
