"""Tests of the commands that answer daily questions about one person."""

import json
import re
from datetime import timedelta
from typing import Any

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation import explanation
from chalicelib.domain.solicitation.decide import HoldReason, SkipReason
from chalicelib.services.customers.read import read_customer
from tests.admin.command import run
from tests.services.purchases import record_purchase
from tests.services.solicitation.soliciting import Shop


def buy(shop: Shop, external_id: str, *, solicit: bool = True, **fields: Any) -> str:
    """Record a purchase, process its solicitation, and return the id of the customer."""
    date = format_timestamp(clock.now() - timedelta(minutes=1))
    definition = shop.definition(source="Site", externalId=external_id, date=date, **fields)
    purchase = record_purchase(shop.account_id, definition, solicit=solicit)
    shop.solicit()
    assert purchase.customer_id
    return purchase.customer_id


def sentences(shop: Shop, *options: str) -> dict[str, str]:
    result = run("solicitation", "explain", shop.account_id, *options, "--json")
    assert result.exit_code == 0, result.stderr
    return {row["purchase"]: row["survey"] for row in json.loads(result.stdout)}


def test_explain_says_days_since_last_survey(shop: Shop) -> None:
    first_day = f"{clock.now():%Y-%m-%d}"
    customer = buy(shop, "1")
    shop.time.ahead += timedelta(days=12)
    buy(shop, "2")
    buy(shop, "3", solicit=False)
    expected = {
        "Site 1": f"survey sent on {first_day} through EMAIL",
        "Site 2": "no survey: 12 days since the last one, the rule is 30 days",
        "Site 3": "no survey: none was requested when the purchase arrived",
    }
    assert sentences(shop, "--customer", customer) == expected
    assert sentences(shop, "--email", "ZOE@example.test") == expected


def test_explain_says_age_of_purchase(shop: Shop) -> None:
    shop.survey(solicitationThreshold=7 * 24 * 3600)
    date = format_timestamp(clock.now() - timedelta(days=9))
    definition = shop.definition(source="Site", externalId="1", date=date)
    record_purchase(shop.account_id, definition, solicit=True)
    shop.solicit()
    words = "no survey: the purchase was 9 days old when it arrived, the rule is 7 days"
    assert sentences(shop, "--email", "zoe@example.test") == {"Site 1": words}


def test_all_reasons_have_words() -> None:
    assert explanation._REASONS.keys() == set(SkipReason)
    assert explanation._HOLDS.keys() == set(HoldReason)


def test_explain_needs_a_purchase_or_a_person(shop: Shop) -> None:
    command = ("solicitation", "explain", shop.account_id)
    assert run(*command).exit_code == 2
    assert run(*command, "Site").exit_code == 2
    assert run(*command, "Site", "1", "--email", "zoe@example.test").exit_code == 2
    nobody = run(*command, "--email", "nobody@example.test")
    assert nobody.stderr == "Error: No customer of the account has this address.\n"
    assert run(*command, "--customer", new_id()).exit_code == 1


def test_customer_show_lists_purchases_and_surveys(shop: Shop) -> None:
    customer = buy(shop, "A-1")
    shown = run("customer", "show", shop.account_id, customer).stdout
    assert "Purchases" in shown
    assert "Surveys" in shown
    record = json.loads(run("customer", "show", shop.account_id, customer, "--json").stdout)
    assert [purchase["externalId"] for purchase in record["purchases"]] == ["A-1"]
    assert [survey["state"] for survey in record["surveys"]] == ["SENT"]
    listed = run("purchase", "list", shop.account_id, "--customer", customer, "--json")
    assert [row["externalId"] for row in json.loads(listed.stdout)] == ["A-1"]
    assert run("purchase", "list", shop.account_id, "--customer", new_id()).exit_code == 1


def test_solicitation_list_filters_by_customer(shop: Shop) -> None:
    customer = buy(shop, "1")
    buy(shop, "2", customer={"email": "ana@example.test", "emailOptin": True})
    command = ("solicitation", "list", shop.account_id, "--customer", customer, "--json")
    assert [row["externalId"] for row in json.loads(run(*command).stdout)] == ["1"]
    assert json.loads(run(*command, "--state", "skipped").stdout) == []


def test_tags_are_added_and_removed_by_name(shop: Shop) -> None:
    customer = buy(shop, "1")
    command = ("customer", "tag")
    added = run(*command, "add", shop.account_id, customer, "VIP", "Press")
    assert (added.exit_code, added.stdout) == (0, "Tags: VIP, Press.\n")
    run(*command, "add", shop.account_id, customer, "vip")
    shown = run("customer", "show", shop.account_id, customer).stdout
    assert re.search(r"(?m)^tags +Press, VIP$", shown)
    assert "company" not in shown  # has no value
    removed = run(*command, "remove", shop.account_id, customer, "PRESS", "unknown", "--json")
    assert json.loads(removed.stdout) == {"tags": ["VIP"]}
    assert [tag.tag for tag in read_customer(shop.account_id, customer).tags] == ["VIP"]
    assert run(*command, "remove", shop.account_id, customer, "vip").stdout == "Tags: none.\n"
    assert run(*command, "add", shop.account_id, customer, " ").exit_code == 2
    assert run(*command, "add", shop.account_id, new_id(), "VIP").exit_code == 1


def test_purchase_list_shows_last_purchases_of_account(shop: Shop) -> None:
    for number in ("1", "2", "3"):
        buy(shop, number, customer={"email": f"{number}@example.test"})
        shop.time.ahead += timedelta(seconds=1)
    with counted_calls() as calls:
        listed = json.loads(run("purchase", "list", shop.account_id, "--json").stdout)
    assert [row["externalId"] for row in listed] == ["3", "2", "1"]
    assert calls.total() <= 4
    limited = json.loads(run("purchase", "list", shop.account_id, "--json", "--limit", "2").stdout)
    assert limited == listed[:2]
    assert run("purchase", "list", new_id()).exit_code == 1
