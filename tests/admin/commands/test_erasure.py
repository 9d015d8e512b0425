"""Tests of ``erasure list`` and ``erasure show``."""

import json
from datetime import timedelta
from typing import Any

import pytest

from admin.services.erasure.find import list_erasures
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.customers.create import create_customer
from chalicelib.storage.stage_values import forget_stage_secret
from tests.admin.command import new_account, run
from tests.services.erasure.erasing import OPERATOR, erase, finish
from tests.services.moved_time import Time

pytestmark = pytest.mark.usefixtures("cloud", "time")


def create(account: str, **fields: str) -> Customer:
    return create_customer(account, parse(fields or {"firstName": "Zoé"}, CustomerBody))


def listed(account: str, *options: str) -> list[dict[str, Any]]:
    result = run("erasure", "list", account, *options, "--json")
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_list_shows_erasures_of_account_newest_first(time: Time) -> None:
    account, other = new_account(), new_account()
    first, second = create(account), create(account)
    for owner, customer in ((account, first), (account, second), (other, create(other))):
        erase(owner, customer.id)
        time.ahead += timedelta(seconds=1)
    assert [(row["state"], row["endedAt"]) for row in listed(account)] == [("PENDING", None)] * 2
    ended = finish(account, first.id, time)
    newest, oldest = listed(account)
    assert oldest == {
        "id": ended.id,
        "requestedAt": oldest["requestedAt"],
        "requestedBy": OPERATOR,
        "state": "DONE",
        "endedAt": oldest["endedAt"],
        "erasedRecords": 1,
    }
    assert newest["requestedAt"] > oldest["requestedAt"]
    assert listed(new_account()) == []


@pytest.mark.parametrize("notation", ["06 12 34 56 78", "+33 6 12 34 56 78"])
def test_list_finds_erasure_by_address_or_customer(notation: str) -> None:
    account = new_account()
    run("account", "set", account, "--default-region", "FR")
    wanted = create(account, email="Zoe@example.test", phoneNumber="0612345678")
    other = create(account, email="ana@example.test")
    for customer in (wanted, other):
        erase(account, customer.id)
    (by_customer,) = listed(account, "--customer", wanted.id)
    for options in (
        ("--email", "zoe@EXAMPLE.test"),
        ("--phone", notation),
        ("--email", "zoe@example.test", "--phone", notation),
    ):
        assert listed(account, *options) == [by_customer], options
    for options in (
        ("--email", "nobody@example.test"),
        ("--customer", new_id()),
        ("--email", "ana@example.test", "--phone", notation),
    ):
        assert listed(account, *options) == [], options


def test_list_sends_number_of_aws_requests_in_help() -> None:
    account = new_account()
    erase(account, create(account).id)
    costs = {(): 2, ("--email", "zoe@example.test"): 3, ("--phone", "+33612345678"): 4}
    for options, cost in costs.items():
        forget_stage_secret()
        with counted_calls() as calls:
            listed(account, *options)
        assert calls.total() == cost, options
        assert "dynamodb.Scan" not in calls
    cost = "Cost: two AWS requests, and one more per 1,500 erasures. With an option, one more"
    assert cost in " ".join(run("erasure", "list", "--help").stdout.split())


def test_show_prints_receipt_again_and_changes_nothing() -> None:
    account = new_account()
    customer = create(account, email="zoe@example.test")
    erased = run("customer", "erase", account, customer.id, "--yes", "--json").stdout
    receipt = json.loads(erased)
    assert receipt["requestedBy"].startswith("arn:aws:")
    with counted_calls() as calls:
        shown = run("erasure", "show", receipt["erasureId"].upper(), "--json")
    assert dict(calls) == {"dynamodb.BatchGetItem": 1}
    assert shown.stdout == erased
    text = run("erasure", "show", receipt["erasureId"]).stdout
    assert f"requested at {receipt['erasedAt']} by {receipt['requestedBy']}\n" in text
    assert "Suppressed channels: EMAIL\n" in text


def test_account_history_contains_requested_erasures(time: Time) -> None:
    account = new_account()
    customer = create(account)
    requested = erase(account, customer.id)
    erase(account, customer.id)
    finish(account, customer.id, time)
    (change,) = json.loads(run("account", "history", account, "--json").stdout)
    assert change == {
        "changedAt": format_timestamp(requested.erased_at),
        "subject": f"erasure {requested.id}",
        "operator": OPERATOR,
        "old": None,
        "new": "requested",
    }


def test_repeated_erasure_keeps_operator_of_first_request() -> None:
    account = new_account()
    customer = create(account)
    erase(account, customer.id)
    run("customer", "erase", account, customer.id, "--yes")
    assert [erasure.operator for erasure in list_erasures(account)] == [OPERATOR]
