"""Tests of customer tags. All customers of an account share the account's tags."""

from datetime import timedelta

import pytest

from admin.domain.tags import tag_id
from admin.services.customers.save import save_customer
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from tests.aws.faults import before_request
from tests.aws.stage import tables
from tests.services.moved_time import Time
from tests.web.definitions import customer_definition
from tests.web.loaded_account import LoadedAccount
from tests.web.partner_client import Partner


def save(partner: Partner, *definitions: dict[str, str]) -> str:
    """Save a customer with tags and return the id of the customer."""
    return save_customer(partner.account_id, customer_definition(tags=list(definitions))).id


def tags_of(partner: Partner, customer_id: str) -> list[dict[str, str]]:
    response = partner.get(f"/partners/customer?id={customer_id}")
    found: list[dict[str, str]] = response.json["tags"]
    return found


def test_names_that_differ_only_in_case_are_one_tag(partner: Partner, time: Time) -> None:
    first = save(partner, {"tag": "VIP", "color": "#C0392B"})
    time.ahead = timedelta(days=1)
    second = save(partner, {"tag": "vip"}, {"tag": " Vip "}, {"tag": "Press"})
    (tag,) = tags_of(partner, first)
    same, press = tags_of(partner, second)
    assert tag == same
    assert (tag["tag"], tag["color"], tag["createdAt"]) == ("VIP", "#C0392B", tag["updatedAt"])
    assert tag["id"] == tag_id(partner.account_id, "Vip")
    assert (press["tag"], press["color"]) == ("Press", None)
    items = partner.post("/partners/customer/list", {}).json["items"]
    assert [item["tags"] for item in items] == [[tag], [tag, press]]


def test_tag_ids_with_same_name_differ_between_accounts() -> None:
    assert tag_id(new_id(), "VIP") != tag_id(new_id(), "VIP")


def test_latest_color_of_tag_applies_to_all_its_customers(partner: Partner, time: Time) -> None:
    first = save(partner, {"tag": "VIP", "color": "#C0392B"})
    before = tags_of(partner, first)[0]
    time.ahead = timedelta(days=1)
    save(partner, {"tag": "VIP", "color": "#000"})
    clear_caches()
    after = tags_of(partner, first)[0]
    assert (after["color"], after["createdAt"]) == ("#000", before["createdAt"])
    assert after["updatedAt"] > before["updatedAt"]


def test_tag_missing_from_cached_directory_reloads_directory_once(partner: Partner) -> None:
    first = save(partner, {"tag": "VIP"})
    tags_of(partner, first)
    second = save(partner, {"tag": "Press"})
    for expected in ({"dynamodb.GetItem": 1, "dynamodb.Query": 1}, {"dynamodb.GetItem": 1}):
        with counted_calls() as calls:
            assert [tag["tag"] for tag in tags_of(partner, second)] == ["Press"]
        assert dict(calls) == expected


def test_purchase_contains_tags_of_customer(loaded: LoadedAccount) -> None:
    customer_id = loaded.paths["customer"].partition("=")[2]
    definition = customer_definition(id=customer_id, tags=[{"tag": "VIP"}])
    save_customer(loaded.partner.account_id, definition)
    purchase = loaded.partner.get(loaded.paths["purchase"]).json
    assert [tag["tag"] for tag in purchase["customer"]["tags"]] == ["VIP"]
    assert purchase["customer"]["tags"] == tags_of(loaded.partner, customer_id)


def test_saving_customer_with_unchanged_tags_writes_no_tag_row(partner: Partner) -> None:
    save(partner, {"tag": "VIP", "color": "#000"})
    with tables().metered() as meter:
        save(partner, {"tag": "vip", "color": "#000"})
        save(partner, {"tag": "VIP"})
    assert "places" not in meter.write_units


def test_tag_created_by_concurrent_load_is_reused(partner: Partner) -> None:
    with before_request("PutItem", lambda: save(partner, {"tag": "VIP", "color": "#C0392B"})):
        customer_id = save(partner, {"tag": "vip"})
    assert [tag["color"] for tag in tags_of(partner, customer_id)] == ["#C0392B"]


def test_tag_over_limit_of_account_is_rejected(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admin.services.customers.save.MAX_TAGS", 2)
    save(partner, {"tag": "a"}, {"tag": "b"})
    with pytest.raises(InvalidInput) as raised:
        save(partner, {"tag": "b"}, {"tag": "c"})
    assert [(error.pointer, error.code) for error in raised.value.errors] == [("/tags", "too_many")]
    save(partner, {"tag": "B"}, {"tag": "A"})
