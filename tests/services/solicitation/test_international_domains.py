"""Test that the spellings of an international domain are one mailbox."""

from datetime import timedelta
from typing import Any

import pytest

from admin.services.customers.find import find_by_email
from admin.services.erasure.find import list_erasures
from admin.services.solicitation.suppressions import find_contact, lift_suppression
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.tokens import UnsubscribeToken
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.solicitation.suppressions import unsubscribe
from chalicelib.storage.customers import CustomerPairRow
from chalicelib.storage.stage_values import stage_secret
from tests.services.customers.importing import accept_batch, all_customers, run_import
from tests.services.erasure.erasing import OPERATOR, erase
from tests.services.feedback.submitting import answer_contact_form, respondents
from tests.services.moved_time import Time
from tests.services.purchases import record_purchase
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import Shop, open_shop, outcome
from tests.web.seeded_account import SeededAccount

UNICODE, ASCII = "zoe@münchen.example", "zoe@xn--mnchen-3ya.example"
ORDERS = pytest.mark.parametrize(("first", "second"), [(UNICODE, ASCII), (ASCII, UNICODE)])


@pytest.fixture
def shop(account: str, time: Time, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Create an account with one store and one survey."""
    name = "chalicelib.services.solicitation.send_survey.send_invitation"
    monkeypatch.setattr(name, Provider().send)
    return open_shop()


def customer(email: str) -> dict[str, Any]:
    return {"email": email, "emailOptin": True}


def solicit(shop: Shop, email: str, **fields: Any) -> tuple[str, str]:
    purchase = shop.record(customer=customer(email), **fields)
    shop.solicit()
    return outcome(purchase)


@ORDERS
def test_mailbox_receives_one_survey_within_delay(shop: Shop, first: str, second: str) -> None:
    assert solicit(shop, first) == ("SENT", "")
    assert solicit(shop, second) == ("SKIPPED", "ALREADY_SOLICITED")


@ORDERS
def test_unsubscription_applies_to_all_spellings(shop: Shop, first: str, second: str) -> None:
    contact_hash = email_hash(shop.account_id, first)
    assert contact_hash
    token = UnsubscribeToken(shop.account_id, contact_hash, Channel.EMAIL, new_id(), None).signed(
        stage_secret()
    )
    unsubscribe(token)
    assert solicit(shop, second) == ("SKIPPED", "SUPPRESSED")
    (stored,) = all_customers(shop.account_id)
    assert not stored.email_optin


@ORDERS
def test_suppression_is_shown_and_lifted_under_both_spellings(
    shop: Shop, first: str, second: str
) -> None:
    shop.suppress(first, SuppressionReason.UNSUBSCRIBED)
    account = shop.account_id
    found = find_contact(account, Channel.EMAIL, second)
    assert found.suppressed == {Channel.EMAIL: SuppressionReason.UNSUBSCRIBED}
    lift_suppression(account, Channel.EMAIL, second, OPERATOR)
    assert find_contact(account, Channel.EMAIL, first).suppressed == {}


@ORDERS
def test_spellings_belong_to_one_customer(shop: Shop, first: str, second: str) -> None:
    purchase = shop.record(customer=customer(first))
    assert shop.record(customer=customer(second)).customer_id == purchase.customer_id
    run_import(shop.account_id, accept_batch(shop.account_id, {"batch": [{"email": second}]}).id)
    (stored,) = all_customers(shop.account_id)
    assert stored.email == first
    assert find_by_email(shop.account_id, second) == [stored]


@ORDERS
def test_erasure_applies_to_all_spellings(shop: Shop, time: Time, first: str, second: str) -> None:
    account = shop.account_id
    customer_id = shop.record(customer=customer(first)).customer_id
    assert customer_id
    queued = accept_batch(account, {"batch": [{"email": second, "company": "Lumen"}]})
    sent_at = clock.now()
    time.ahead += timedelta(minutes=1)
    erasure = erase(account, customer_id)
    run_import(account, queued.id)
    definition = shop.definition(customer=customer(second), externalId=new_id())
    assert record_purchase(account, definition, sent_at=sent_at).customer_id is None
    assert all_customers(account) == []
    assert [row for row in CustomerPairRow.scan() if row.customer_id == customer_id] == []
    assert list_erasures(account, email=second) == [erasure]
    time.ahead += timedelta(minutes=1)
    assert solicit(shop, second) == ("SKIPPED", "ERASED")


def test_international_domain_takes_no_further_request_for_purchase(shop: Shop) -> None:
    record_purchase(shop.account_id, shop.definition(customer=customer("zoe@example.test")))
    for email in ("max@example.test", UNICODE):
        with counted_calls() as calls:
            record_purchase(shop.account_id, shop.definition(customer=customer(email)))
        assert calls.total() == 2


@ORDERS
def test_respondent_is_customer_of_other_spelling(
    seeded: SeededAccount, first: str, second: str
) -> None:
    for address in (first, second):
        process_feedback([answer_contact_form(seeded, mail=address).id])
    (respondent,) = respondents(seeded)
    assert (respondent.email, respondent.feedback_count) == (first, 2)
