"""Tests of the list of changed consents, and of finding the consent of an address."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from admin.services.solicitation.suppressions import add_suppression, lift_suppression
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.list_cursor import write_cursor
from chalicelib.domain.parsing import parse
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.storage import suppressions
from chalicelib.storage.contacts import ContactPointer, ContactRow, contact_key
from chalicelib.storage.stage_values import stage_secret
from tests.services.erasure.erasing import erase
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner

EMAIL, PHONE = "zoe@example.test", "+33612345678"
UNSUBSCRIBED, BOUNCED = SuppressionReason.UNSUBSCRIBED, SuppressionReason.BOUNCED
OVERLAP = timedelta(minutes=15)


def create(own: Reporter, **fields: Any) -> str:
    body = {"email": EMAIL, "emailOptin": True, **fields}
    customer: str = own.partner.post("/partners/customer", body).json["id"]
    own.shop.time.ahead += timedelta(seconds=1)
    return customer


def suppress(own: Reporter, reason: SuppressionReason = UNSUBSCRIBED, email: str = EMAIL) -> None:
    own.shop.time.ahead += timedelta(seconds=1)
    own.shop.suppress(email, reason)


def page(own: Reporter, **body: Any) -> dict[str, Any]:
    response = own.post("consent/list", **body)
    assert response.status == 201, response.body
    shown: dict[str, Any] = response.json
    assert shown["meta"]["itemCount"] == len(shown["items"]) <= body.get("limit", 10)
    return shown


def items(own: Reporter, **body: Any) -> Iterator[dict[str, Any]]:
    """Yield the items from the cursor to the end of the list."""
    has_more = True
    while has_more:
        shown = page(own, **body)
        yield from shown["items"]
        body["cursor"], has_more = shown["meta"]["cursor"], shown["meta"]["hasMore"]


def listed(own: Reporter, **body: Any) -> dict[str, Any]:
    """Return the reason by channel of each listed customer; None if the customer is removed."""
    return {
        item["customerId"]: None
        if item["removed"]
        else {address["channel"]: address["reason"] for address in item["addresses"]}
        for item in items(own, **body)
    }


def found(own: Reporter, **address: str) -> tuple[bool, str | None]:
    response = own.post("consent/find", **address)
    assert response.status == 201, response.body
    return response.json["canSend"], response.json["reason"]


def test_unsubscription_is_listed_with_customer_address_reason_and_time(own: Reporter) -> None:
    customer = create(own, phoneNumber=PHONE)
    before = format_timestamp(clock.now())
    suppress(own)
    (item,) = items(own)
    changed_at = item["changedAt"]
    assert before < changed_at <= format_timestamp(clock.now())
    assert item == {
        "customerId": customer,
        "changedAt": changed_at,
        "removed": False,
        "addresses": [
            {
                "channel": "EMAIL",
                "address": EMAIL,
                "reason": "UNSUBSCRIBED",
                "since": changed_at,
            },
        ],
    }


@pytest.mark.parametrize("reason", ["UNSUBSCRIBED", "COMPLAINT", "BOUNCED"])
def test_current_reason_of_all_customers_with_address_is_listed(own: Reporter, reason: str) -> None:
    customers = [create(own), create(own, emailOptin=False), create(own, email="ZOE@example.test")]
    suppress(own, SuppressionReason(reason))
    assert listed(own) == {key: {"EMAIL": reason} for key in customers}
    suppress(own, SuppressionReason.COMPLAINT)
    assert listed(own) == {key: {"EMAIL": "COMPLAINT"} for key in customers}


def test_what_partner_told_is_not_listed(own: Reporter) -> None:
    customer = create(own)
    create(own)
    own.post("customer/opt-out", email=EMAIL)
    for optin in (True, False):
        own.partner.patch(f"/partners/customer?id={customer}", {"emailOptin": optin})
    assert listed(own) == {}
    assert found(own, email=EMAIL) == (False, "OPTED_OUT")


def test_what_operator_suppresses_or_lifts_is_listed(own: Reporter) -> None:
    customer, account = create(own), own.shop.account_id
    add_suppression(account, parse({"email": EMAIL}, OptOut), "operator")
    assert listed(own) == {customer: {"EMAIL": "OPTED_OUT"}}
    lift_suppression(account, Channel.EMAIL, EMAIL, "operator")
    assert listed(own) == {customer: {"EMAIL": None}}
    suppress(own, BOUNCED)
    assert listed(own) == {customer: {"EMAIL": "BOUNCED"}}
    lift_suppression(account, Channel.EMAIL, EMAIL, "operator")
    assert listed(own) == {customer: {"EMAIL": None}}


def test_lifting_of_phone_number_is_listed(own: Reporter) -> None:
    customer = create(own, email=None, phoneNumber=PHONE)
    account = own.shop.account_id
    add_suppression(account, parse({"phoneNumber": PHONE}, OptOut), "operator")
    own.shop.time.ahead += timedelta(hours=1)
    cursor = page(own)["meta"]["cursor"]
    own.shop.time.ahead += timedelta(hours=1)
    lift_suppression(account, Channel.SMS, PHONE, "operator")
    assert listed(own, cursor=cursor) == {customer: {"SMS": None}}


def test_erased_customer_is_listed_as_removed_without_address(own: Reporter) -> None:
    erased, other = create(own), create(own)
    suppress(own)
    erase(own.shop.account_id, erased)
    assert listed(own) == {other: {"EMAIL": "OPTED_OUT"}, erased: None}
    (item,) = (each for each in items(own) if each["removed"])
    assert item["addresses"] == []
    (row,) = (row for row in ContactRow.scan() if row.customer_id == erased)
    assert row.expires_at == int(row.changed_at.timestamp()) + 90 * 24 * 3600
    names = {"key", "account_id", "customer_id", "changed_at", "removed", "revision", "expires_at"}
    assert row.attribute_values.keys() == names


def test_customer_with_address_of_erased_person_is_listed_when_survey_is_skipped(
    own: Reporter,
) -> None:
    erased, other = create(own, phoneNumber=PHONE), create(own)
    erase(own.shop.account_id, erased)
    assert listed(own) == {erased: None}
    purchase = own.report(customer=None, customerId=other)
    own.shop.solicit()
    assert own.outcome(purchase) == ("SKIPPED", "ERASED")
    assert listed(own) == {erased: None, other: {"EMAIL": "OPTED_OUT"}}


def test_customer_that_was_never_listed_is_listed_as_removed(own: Reporter) -> None:
    customer = create(own)
    erase(own.shop.account_id, customer)
    assert listed(own) == {customer: None}


def test_address_that_customer_no_longer_has_is_not_listed(own: Reporter) -> None:
    customer = create(own)
    suppress(own)
    own.partner.patch(f"/partners/customer?id={customer}", {"email": "new@example.test"})
    (item,) = items(own)
    assert (item["customerId"], item["addresses"]) == (customer, [])


def test_pages_continue_until_has_more_is_false(own: Reporter) -> None:
    customers = [create(own, email=f"{number}@example.test") for number in range(5)]
    for number in range(5):
        suppress(own, email=f"{number}@example.test")
    for limit in (1, 2, 5, 6):
        assert [item["customerId"] for item in items(own, limit=limit)] == customers


def test_change_is_listed_again_during_overlap(own: Reporter) -> None:
    customer = create(own)
    suppress(own)
    own.shop.time.ahead += OVERLAP - timedelta(seconds=5)
    cursor = page(own)["meta"]["cursor"]
    assert listed(own, cursor=cursor) == {customer: {"EMAIL": "UNSUBSCRIBED"}}
    own.shop.time.ahead += timedelta(seconds=10)
    cursor = page(own, cursor=cursor)["meta"]["cursor"]
    assert listed(own, cursor=cursor) == {}


def test_change_that_index_hides_while_list_is_read_is_listed_later(own: Reporter) -> None:
    customers = [create(own, email=f"{number}@example.test") for number in range(3)]
    suppress(own, email="0@example.test")
    suppress(own, email="2@example.test")
    first = page(own, limit=1)["meta"]["cursor"]
    # It has an earlier time than the changes that were read, and is visible after them.
    own.shop.time.ahead -= timedelta(minutes=5)
    suppress(own, email="1@example.test")
    own.shop.time.ahead += timedelta(minutes=50)
    rest = page(own, cursor=first)
    assert [item["customerId"] for item in rest["items"]] == [customers[2]]
    assert customers[1] in listed(own, cursor=rest["meta"]["cursor"])


def test_further_customers_of_address_are_listed_by_worker(own: Reporter) -> None:
    customers = [create(own, emailOptin=number % 2 == 0) for number in range(5)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suppressions, "_MAX_CUSTOMERS", 2)
        suppress(own)
        assert len(listed(own)) == 2
        pointer = ContactPointer(own.shop.account_id, contact_key(own.shop.contact_hash(EMAIL)))
        while not suppressions.change_further_customers(pointer, clock.now()):
            pass
    assert listed(own) == {key: {"EMAIL": "UNSUBSCRIBED"} for key in customers}


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        write_cursor(("", "soon", ""), "consent"),
        write_cursor(("soon", "2026-11-28T05:00:00.000Z", ""), "consent"),
        write_cursor(("", "2026-11-28T05:00:00.000Z", "x"), "consent"),
        write_cursor(("", "2026-11-28T05:00:00.000Z"), "consent"),
        write_cursor(("", "2026-11-28T05:00:00.000Z", ""), "feed"),
    ],
)
def test_cursor_that_is_not_from_list_is_invalid(own: Reporter, cursor: str) -> None:
    response = own.post("consent/list", cursor=cursor)
    assert response.errors == [("/cursor", "invalid_cursor")]


def test_consents_of_other_account_are_not_shown(own: Reporter, foreign: Partner) -> None:
    create(own)
    suppress(own)
    cursor = page(own, limit=1)["meta"]["cursor"]
    for body in ({}, {"cursor": cursor}):
        assert foreign.post("/partners/consent/list", body).json["items"] == []
    answer = foreign.post("/partners/consent/find", {"email": EMAIL}).json
    assert (answer["canSend"], answer["reason"]) == (False, "NO_CONSENT")


def test_page_and_find_take_few_requests(own: Reporter) -> None:
    for number in range(100):
        create(own, email=f"{number}@example.test")
        suppress(own, email=f"{number}@example.test")
    stage_secret()
    page(own)
    found(own, email="1@example.test")
    for limit, requests in ((1, 2), (50, 2), (51, 3), (100, 3)):
        with counted_calls() as calls:
            page(own, limit=limit)
        assert calls.total() == requests
    with counted_calls() as calls:
        found(own, email="1@example.test")
    assert calls.total() == 2
    with counted_calls() as calls:
        assert listed(own, cursor=page(own)["meta"]["cursor"])
