"""Tests of changing and finding customers, and of opt-outs."""

from collections.abc import Callable
from typing import Any

import pytest
from chalice.test import Client

from admin.services.accounts.settings import change_account_settings
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash, pair_of
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason
from chalicelib.services.caching import clear_caches
from chalicelib.storage import (
    contacts,
    customer_changes,
    customer_consent,
    customer_creation,
    customers,
    suppressions,
)
from chalicelib.storage.stage_values import stage_secret
from tests.services.erasure.erasing import erase
from tests.services.solicitation.soliciting import open_shop, outcome
from tests.web.partner_client import Partner, Response, new_partner, with_permissions

EMAIL = "zoe@example.test"
REASONS = [reason for reason in SuppressionReason if reason is not SuppressionReason.OPTED_OUT]


def created(partner: Partner, **fields: Any) -> dict[str, Any]:
    response = partner.post("/partners/customer", fields)
    assert response.status == 201
    body: dict[str, Any] = response.json
    return body


def patch(partner: Partner, customer_id: str, **fields: Any) -> Response:
    return partner.patch(f"/partners/customer?id={customer_id}", fields)


def read(partner: Partner, customer_id: str) -> dict[str, Any]:
    body: dict[str, Any] = partner.get(f"/partners/customer?id={customer_id}").json
    return body


def contact(partner: Partner, email: str = EMAIL) -> Contact:
    key = contacts.contact_key(email_hash(partner.account_id, email) or "")
    return contacts.find_many([key])[key]


def suppress(partner: Partner, reason: SuppressionReason, email: str = EMAIL) -> None:
    contact_hash = email_hash(partner.account_id, email) or ""
    suppressions.suppress(partner.account_id, contact_hash, Channel.EMAIL, reason, clock.now())


def holder_of(partner: Partner, email: str) -> str | None:
    pair = pair_of(email, None)
    assert pair
    return customers.find_by_pair(partner.account_id, pair.digest)


def test_patch_changes_given_fields_clears_null_and_keeps_the_rest(known: Partner) -> None:
    customer = created(
        known, firstName="Zoé", company="Lumen", civility="Ms", language="fr", metadata={"a": "1"}
    )
    with counted_calls() as calls:
        response = patch(
            known, customer["id"], firstName=" Léa ", company=None, civility=" ", language=None,
            metadata={"b": "2"}, operaId="O-1",
        )  # fmt: skip
    assert calls.total() == 2
    assert response.status == 200
    changed = response.json
    assert changed == read(known, customer["id"])
    assert changed["updatedAt"] > customer["updatedAt"]
    del customer["language"]
    assert changed == customer | {
        "updatedAt": changed["updatedAt"],
        "firstName": "Léa",
        "displayName": "Léa",
        "company": None,
        "civility": None,
        "metadata": {"import": {"b": "2"}},
        "operaId": "O-1",
    }
    assert patch(known, customer["id"], metadata={}).json["metadata"] == {}


def test_patch_without_effect_writes_nothing(known: Partner) -> None:
    customer = created(known, firstName="Zoé", emailOptin=True, email="same@example.test")
    with counted_calls() as calls:
        # The customer has no phone number, so this opt-in suppresses nothing.
        response = patch(known, customer["id"], firstName="Zoé", company=None, smsOptin=False)
    assert dict(calls) == {"dynamodb.BatchGetItem": 1}
    assert response.json == customer


@pytest.mark.parametrize(
    ("stored", "changes", "display_name"),
    [
        ({"firstName": "Zoé", "lastName": "Roy"}, {"lastName": "Bé"}, "Zoé Bé"),
        ({"firstName": "Zoé"}, {"firstName": None}, None),
        ({"firstName": "Zoé", "displayName": "Zo"}, {"firstName": "Léa"}, "Zo"),
        ({"firstName": "Zoé", "displayName": "Zo"}, {"displayName": None}, "Zoé"),
        ({"firstName": "Zoé"}, {"displayName": "Zo"}, "Zo"),
    ],
)
def test_derived_display_name_follows_names(
    known: Partner, stored: dict[str, Any], changes: dict[str, Any], display_name: str | None
) -> None:
    customer = created(known, **stored)
    assert patch(known, customer["id"], **changes).json["displayName"] == display_name


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({}, [("", "empty")]),
        ({"emailOptin": None}, [("/emailOptin", "wrong_type")]),
        ({"smsOptin": "yes"}, [("/smsOptin", "wrong_type")]),
        ({"email": "nobody"}, [("/email", "invalid_email")]),
        ({"id": new_id(), "x": None}, [("/id", "unknown_key"), ("/x", "unknown_key")]),
        ({"firstName": "x" * 256}, [("/firstName", "too_long")]),
        ({"metadata": {"a": 1}}, [("/metadata/a", "wrong_type")]),
    ],
)
def test_invalid_patch_is_rejected(
    known: Partner, changes: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    customer = created(known, firstName="Zoé")
    assert patch(known, customer["id"], **changes).errors == errors
    assert read(known, customer["id"]) == customer


def test_errors_of_id_and_body_are_reported_together(known: Partner) -> None:
    response = known.patch("/partners/customer?id=x", {"emial": "x"})
    assert response.errors == [("?id", "invalid_uuid"), ("/emial", "unknown_key")]


def test_patch_that_makes_customer_too_large_is_rejected(known: Partner) -> None:
    metadata = {f"key {number}": "x" * 500 for number in range(50)}
    customer = created(known, metadata=metadata)
    wide = dict.fromkeys(
        ("company", "firstName", "lastName", "civility", "operaId", "mewsId"), "\N{SNOWMAN}" * 255
    )
    assert patch(known, customer["id"], description="x" * 2000).status == 200
    assert patch(known, customer["id"], **wide).status == 413
    assert read(known, customer["id"])["company"] is None


def test_customer_of_other_account_is_not_found(client: Client, known: Partner) -> None:
    customer, other = created(known, firstName="Zoé"), new_partner(client)
    assert patch(other, customer["id"], firstName="Léa").status == 404
    assert patch(other, new_id(), firstName="Léa").status == 404
    assert read(known, customer["id"]) == customer


def test_concurrent_change_is_kept(known: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    customer = created(known, firstName="Zoé")
    before_saving(monkeypatch, lambda: patch(known, customer["id"], lastName="Roy"))
    assert patch(known, customer["id"], firstName="Léa").json["displayName"] == "Léa Roy"


def before_saving(monkeypatch: pytest.MonkeyPatch, interleaved: Callable[[], object]) -> None:
    """Run other work once, between the read and the transaction of the next change."""
    change = customer_changes.change
    waiting = [interleaved]

    def save_later(*arguments: Any) -> None:
        if waiting:
            waiting.pop()()
        change(*arguments)

    monkeypatch.setattr(customer_changes, "change", save_later)


def test_change_of_email_clears_bounce_and_survives_case(partner: Partner) -> None:
    customer = created(partner, email=EMAIL)
    suppress(partner, SuppressionReason.BOUNCED)
    assert patch(partner, customer["id"], email=EMAIL.upper()).json["emailBounced"]
    assert not patch(partner, customer["id"], email="new@example.test").json["emailBounced"]
    found = partner.post("/partners/customer/find", {"email": "new@example.test"}).json["items"]
    assert [item["id"] for item in found] == [customer["id"]]
    assert not partner.post("/partners/customer/find", {"email": EMAIL}).json["items"]


def test_changed_pair_belongs_to_oldest_customer_with_it(partner: Partner) -> None:
    old, new = "old@example.test", "new@example.test"
    first, second, third = (created(partner, email=email)["id"] for email in (old, old, new))
    assert (holder_of(partner, old), holder_of(partner, new)) == (first, third)
    with counted_calls() as calls:
        patch(partner, first, email=new)
    assert calls.total() <= 8
    assert (holder_of(partner, old), holder_of(partner, new)) == (second, first)
    patch(partner, second, email=new)
    assert (holder_of(partner, old), holder_of(partner, new)) == (None, first)
    patch(partner, first, email=None)
    assert holder_of(partner, new) == second
    patch(partner, first, email="third@example.test")
    assert holder_of(partner, "third@example.test") == first


def test_many_customers_with_same_address_take_no_further_requests(partner: Partner) -> None:
    holders = [created(partner, email=email)["id"] for email in (EMAIL, EMAIL, "new@example.test")]
    stage_secret()  # a warm function has it
    costs = []
    for number in range(3):
        with counted_calls() as calls:
            patch(partner, holders[0], email=f"{number}@example.test")
        assert holder_of(partner, EMAIL) == holders[1]
        patch(partner, holders[0], email=EMAIL)
        erasable = created(partner, email=EMAIL)["id"]
        with counted_calls() as erased:
            erase(partner.account_id, erasable)
        costs.append((dict(calls), dict(erased)))
        for phone in range(130 if number == 1 else 0):
            phone_number = f"+336120{phone:05}"
            customer = Customer(id=new_id(), created_at=clock.now(), updated_at=clock.now())
            person = {"email": EMAIL, "phone_number": phone_number}
            customer_creation.create(partner.account_id, customer.model_copy(update=person))
    assert costs[1] == costs[2]  # the first round fills caches
    assert sum(costs[1][0].values()) <= 8


def test_pair_taken_concurrently_stays_with_older_customer(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = "new@example.test"
    first, second = (created(partner, firstName="Zoé")["id"] for _ in range(2))
    before_saving(monkeypatch, lambda: patch(partner, first, email=new))
    patch(partner, second, email=new)
    assert holder_of(partner, new) == first


def test_change_to_false_suppresses_address_for_all_its_customers(
    client: Client, partner: Partner
) -> None:
    first, second = (created(partner, email=EMAIL, emailOptin=True)["id"] for _ in range(2))
    other = new_partner(client)
    foreign = created(other, email=EMAIL, emailOptin=True)["id"]
    suppressed = patch(partner, first, emailOptin=False)
    assert suppressed.json["emailOptin"] is False
    assert read(partner, second)["emailOptin"] is False
    assert contact(partner).suppressed == {Channel.EMAIL: SuppressionReason.OPTED_OUT}
    assert read(other, foreign)["emailOptin"] is True
    assert not contact(other).suppressed


def test_requests_of_changed_optins(partner: Partner) -> None:
    customer = created(partner, email=EMAIL, emailOptin=True, firstName="Zoé")["id"]
    stage_secret()  # a warm function has it
    for optin in (False, True):
        with counted_calls() as calls:
            patch(partner, customer, emailOptin=optin, firstName=f"Léa {optin}")
        assert calls.total() == 3
        assert read(partner, customer)["emailOptin"] is optin
    phone = "+33612345678"
    both = created(partner, email="a@example.test", phoneNumber=phone, emailOptin=True)["id"]
    patch(partner, both, smsOptin=True)
    with counted_calls() as calls:
        assert patch(partner, both, emailOptin=False, smsOptin=False).status == 200
    assert dict(calls) == {
        "dynamodb.BatchGetItem": 1,
        "dynamodb.TransactWriteItems": 1,
        "dynamodb.Query": 2,
    }


def test_change_that_is_saved_succeeds_if_other_customers_cannot_be_read(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (created(partner, email=EMAIL, emailOptin=True)["id"] for _ in range(2))

    def unavailable(*_: object) -> list[str]:
        raise Unavailable("The database is busy.")

    monkeypatch.setattr(customer_consent, "find_values_with_contact", unavailable)
    assert patch(partner, first, emailOptin=False).json["emailOptin"] is False
    assert contact(partner).suppressed == {Channel.EMAIL: SuppressionReason.OPTED_OUT}
    assert read(partner, second)["emailOptin"] is True


def test_false_that_was_false_is_a_wish_and_repeating_it_writes_nothing(partner: Partner) -> None:
    number = "+33612345678"
    fields = {"email": EMAIL, "phoneNumber": number}
    customer, other = created(partner, **fields), created(partner, email=EMAIL, emailOptin=True)
    assert not contact(partner).suppressed
    created(partner, phoneNumber="+33698765432", smsOptin=True)  # fills the caches
    with counted_calls() as calls:
        assert patch(partner, customer["id"], smsOptin=False).json == customer
    assert calls.total() == 3
    wish = {"emailOptin": False, "smsOptin": False}
    assert patch(partner, customer["id"], **wish).json == customer
    assert contact(partner).suppressed == {Channel.EMAIL: SuppressionReason.OPTED_OUT}
    assert read(partner, other["id"])["emailOptin"] is False
    before = contact(partner), [read(partner, each["id"]) for each in (customer, other)]
    with counted_calls() as calls:
        assert patch(partner, customer["id"], emailOptin=False).json == before[1][0]
    assert calls.total() <= 3
    assert (contact(partner), [read(partner, each["id"]) for each in (customer, other)]) == before


def test_wish_prevents_survey_of_later_purchase(client: Client) -> None:
    shop = open_shop()
    partner = with_permissions(Partner(client, shop.account_id))
    customer = created(partner, email="zoe@example.test")["id"]
    assert patch(partner, customer, emailOptin=False).status == 200
    purchase = shop.record()
    shop.solicit()
    assert outcome(purchase) == ("SKIPPED", "SUPPRESSED")


def test_wish_is_saved_with_other_changes_of_suppressed_customer(partner: Partner) -> None:
    customer = created(partner, email=EMAIL)["id"]
    suppress(partner, SuppressionReason.UNSUBSCRIBED)
    before = contact(partner)
    assert patch(partner, customer, emailOptin=False, firstName="Zoé").json["firstName"] == "Zoé"
    assert contact(partner) == before


@pytest.mark.parametrize("reason", SuppressionReason)
def test_optin_of_suppressed_address_is_stored_as_false(
    partner: Partner, reason: SuppressionReason
) -> None:
    suppress(partner, reason)
    created(partner, phoneNumber="+33612345678", smsOptin=True)  # fills the caches
    with counted_calls() as calls:
        customer = created(partner, email=EMAIL.upper(), emailOptin=True, smsOptin=True)
    assert calls.total() == 2
    assert (customer["emailOptin"], customer["smsOptin"]) == (False, True)
    assert read(partner, customer["id"]) == customer


@pytest.mark.parametrize("reason", SuppressionReason)
def test_change_to_suppressed_address_turns_optin_off(
    partner: Partner, reason: SuppressionReason
) -> None:
    suppress(partner, reason)
    customer = created(partner, email="old@example.test", emailOptin=True)
    assert customer["emailOptin"] is True
    changed = patch(partner, customer["id"], email=EMAIL).json
    assert (changed["email"], changed["emailOptin"]) == (EMAIL, False)
    assert read(partner, customer["id"]) == changed
    assert contact(partner).suppressed == {Channel.EMAIL: reason}
    if reason is SuppressionReason.OPTED_OUT:
        assert patch(partner, customer["id"], emailOptin=True).json["emailOptin"] is True


def test_change_to_suppressed_phone_number_turns_optin_off(partner: Partner) -> None:
    partner.post("/partners/customer/opt-out", {"phoneNumber": "+33612345678"})
    customer = created(partner, phoneNumber="+33698765432", smsOptin=True)["id"]
    changed = patch(partner, customer, phoneNumber="+33 6 12 34 56 78", firstName="Zoé").json
    assert (changed["smsOptin"], changed["firstName"]) == (False, "Zoé")


def test_true_lifts_what_a_partner_set(partner: Partner) -> None:
    customer = created(partner, email=EMAIL, emailOptin=True)["id"]
    patch(partner, customer, emailOptin=False)
    assert patch(partner, customer, emailOptin=True).json["emailOptin"] is True
    assert not contact(partner).suppressed
    # Also for a customer who was created later.
    partner.post("/partners/customer/opt-out", {"email": "late@example.test"})
    late = created(partner, email="late@example.test", emailOptin=True)
    assert late["emailOptin"] is False
    assert patch(partner, late["id"], emailOptin=True).json["emailOptin"] is True
    assert not contact(partner, "late@example.test").suppressed


@pytest.mark.parametrize("reason", REASONS)
def test_true_lifts_nothing_else(partner: Partner, reason: SuppressionReason) -> None:
    customer = created(partner, email=EMAIL)["id"]
    suppress(partner, reason)
    changed = patch(partner, customer, emailOptin=True, firstName="Zoé").json
    assert (changed["emailOptin"], changed["firstName"]) == (False, "Zoé")
    assert contact(partner).suppressed == {Channel.EMAIL: reason}


@pytest.mark.parametrize("reason", REASONS)
def test_opt_out_keeps_reason_of_earlier_suppression(
    partner: Partner, reason: SuppressionReason
) -> None:
    created(partner, email=EMAIL, emailOptin=True)
    suppress(partner, reason)
    since = contact(partner).suppressed_at
    partner.post("/partners/customer/opt-out", {"email": EMAIL})
    assert contact(partner).suppressed == {Channel.EMAIL: reason}
    assert contact(partner).suppressed_at == since


def test_later_unsubscription_replaces_opt_out(partner: Partner) -> None:
    partner.post("/partners/customer/opt-out", {"email": EMAIL})
    suppress(partner, SuppressionReason.UNSUBSCRIBED)
    customer = created(partner, email=EMAIL)["id"]
    assert patch(partner, customer, emailOptin=True).json["emailOptin"] is False


def test_unsubscription_between_read_and_lift_wins(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = created(partner, email=EMAIL)["id"]
    partner.post("/partners/customer/opt-out", {"email": EMAIL})
    before_saving(monkeypatch, lambda: suppress(partner, SuppressionReason.UNSUBSCRIBED))
    assert patch(partner, customer, emailOptin=True).json["emailOptin"] is False
    assert contact(partner).suppressed == {Channel.EMAIL: SuppressionReason.UNSUBSCRIBED}


def test_opt_out_applies_to_later_customers_of_the_account_only(client: Client) -> None:
    shop, other = open_shop(), open_shop()
    partner = with_permissions(Partner(client, shop.account_id))
    for _ in range(2):
        response = partner.post("/partners/customer/opt-out", {"email": "ZOE@example.test"})
        assert (response.status, response.json) == (201, {"channels": ["EMAIL"]})
    purchases = [account.record() for account in (shop, other)]
    for account in (shop, other):
        account.solicit()
    assert outcome(purchases[0]) == ("SKIPPED", "SUPPRESSED")
    assert outcome(purchases[1])[1] != "SUPPRESSED"


def test_opt_out_turns_optins_off_in_two_requests(partner: Partner) -> None:
    change_account_settings(partner.account_id, {"defaultRegion": "FR"}, "operator")
    clear_caches()
    number = "+33 6 12 34 56 78"
    email = created(partner, email=EMAIL, emailOptin=True, phoneNumber=number, smsOptin=True)["id"]
    stage_secret()  # a warm function has it
    for body in ({"email": EMAIL}, {"phoneNumber": "06 12 34 56 78"}):
        partner.get("/partners/account")
        with counted_calls() as calls:
            response = partner.post("/partners/customer/opt-out", body)
        assert calls.total() == 2
        assert response.json["channels"] == ["EMAIL" if "email" in body else "SMS"]
    assert (read(partner, email)["emailOptin"], read(partner, email)["smsOptin"]) == (False, False)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, [("", "empty")]),
        ({"email": EMAIL, "phoneNumber": "+33612345678"}, [("", "invalid_combination")]),
        ({"email": EMAIL, "channels": ["SMS"]}, [("", "invalid_combination")]),
        ({"email": EMAIL, "channels": []}, [("/channels", "too_few")]),
        ({"email": EMAIL, "channels": ["FAX"]}, [("/channels/0", "not_allowed")]),
        ({"phoneNumber": "--"}, [("/phoneNumber", "invalid")]),
        ({"email": "nobody"}, [("/email", "invalid_email")]),
    ],
)
def test_invalid_opt_out_is_rejected(
    known: Partner, body: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    assert known.post("/partners/customer/opt-out", body).errors == errors


def test_customers_are_found_by_address_oldest_first(client: Client, partner: Partner) -> None:
    change_account_settings(partner.account_id, {"defaultRegion": "FR"}, "operator")
    clear_caches()
    number = "06 12 34 56 78"
    first = created(partner, email="ZOE@example.test", phoneNumber=number)
    second = created(partner, email=EMAIL)
    third = created(partner, phoneNumber="+33 6 12 34 56 78")

    def found(**address: str) -> list[dict[str, Any]]:
        response = partner.post("/partners/customer/find", address)
        assert (response.status, response.json["hasMore"]) == (201, False)
        items: list[dict[str, Any]] = response.json["items"]
        return items

    with counted_calls() as calls:
        assert found(email=EMAIL) == [first, second]
    assert calls.total() == 2
    assert found(phoneNumber="+33612345678") == [first, third]
    assert found(email=EMAIL, phoneNumber=number) == [first]
    assert found(email="nobody@example.test") == []
    other = new_partner(client)
    assert other.post("/partners/customer/find", {"email": EMAIL}).json["items"] == []
    assert partner.post("/partners/customer/find", {}).errors == [("", "empty")]


def test_find_returns_at_most_100_customers(partner: Partner) -> None:
    for number in range(101):
        created(partner, email=EMAIL, firstName=str(number))
        if number == 99:
            assert not partner.post("/partners/customer/find", {"email": EMAIL}).json["hasMore"]
    found = partner.post("/partners/customer/find", {"email": EMAIL}).json
    assert found["hasMore"]
    assert len(found["items"]) == 100
