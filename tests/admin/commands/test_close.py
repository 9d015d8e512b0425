"""Tests of ``account close``."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from admin.services import close_account as closing
from admin.services.accounts.manage import issue_key, list_keys, require_account
from admin.services.close_account import close_account
from admin.services.customers.save import save_customer
from admin.services.forms.manage import list_forms
from admin.storage.history import load_last
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.services.customers.read import list_customers
from chalicelib.storage import workflows
from tests.admin.command import run
from tests.aws.faults import before_request
from tests.services.webhooks.delivering import add_workflow
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    seeded = seed_account()
    issue_key(seeded.account_id, "operator")
    add_workflow(seeded.account_id)
    for _ in range(2):
        save_customer(seeded.account_id, customer_definition())
    return seeded


def name_of(account_id: str) -> str:
    return str(json.loads(run("account", "show", account_id, "--json").stdout)["settings"]["name"])


def state(account_id: str) -> dict[str, Any]:
    return {
        "keys": sum(key.revoked_at is None for key in list_keys(account_id)),
        "forms": sum(f.saved.enabled for kind in FormKind for f in list_forms(account_id, kind)),
        "workflows": sum(w.enabled for w in workflows.list_for_account(account_id)),
        "customers": list_customers(account_id, PageRequest()).meta.total_items,
    }


def test_account_that_is_closed_twice_at_once_is_closed_once(seeded: SeededAccount) -> None:
    account_id, first = seeded.account_id, list[datetime | None]()

    def close() -> None:
        close_account(account_id, "first operator", lambda _: None)
        first.append(require_account(account_id).closed_at)

    with before_request("TransactWriteItems", close):
        close_account(account_id, "second operator", lambda _: None)
    assert [require_account(account_id).closed_at] == first
    closings = [change for change in load_last(account_id) if change.new == closing.CLOSED]
    assert [change.operator for change in closings] == ["first operator"]


@pytest.mark.parametrize("options", [(), ("--confirm", "Another name")])
def test_close_without_name_of_account_changes_nothing(
    seeded: SeededAccount, options: tuple[str, ...]
) -> None:
    before = state(seeded.account_id)
    result = run("account", "close", seeded.account_id, *options)
    assert (result.exit_code, "--confirm" in result.stderr) == (2, True)
    assert state(seeded.account_id) == before
    assert all(before.values())


def test_interrupted_close_is_continued(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, before = seeded.account_id, state(seeded.account_id)
    command = ("account", "close", account, "--confirm", name_of(account), "--json")
    start, erased = closing.start_erasure, []

    def interrupted(account_id: str, customer_id: str, operator: str) -> Any:
        if erased:
            raise Unavailable("The database is not available.")
        erased.append(customer_id)
        return start(account_id, customer_id, operator)

    monkeypatch.setattr(closing, "start_erasure", interrupted)
    assert run(*command).exit_code == 1
    assert state(account) == {
        "keys": 0,
        "forms": 0,
        "workflows": 0,
        "customers": before["customers"] - 1,
    }
    monkeypatch.setattr(closing, "start_erasure", start)
    closed = json.loads(run(*command).stdout)["closed"]
    assert closed == {
        "revokedKeys": 0,
        "disabledForms": 0,
        "disabledWorkflows": 0,
        "erasedCustomers": before["customers"] - 1,
        "remainingCustomers": 0,
    }
    assert state(account)["customers"] == 0
    assert run(*command).exit_code == 0
    history = json.loads(run("account", "history", account, "--json").stdout)
    assert [c["new"] for c in history if c["subject"] == f"account {account}"] == ["closed"]


@pytest.fixture
def closed(seeded: SeededAccount) -> str:
    close_account(seeded.account_id, "operator", lambda _: None)
    return seeded.account_id


def test_closed_account_shows_when_it_was_closed(closed: str) -> None:
    today = f"{clock.now():%Y-%m-%d}"
    listed = {row["id"]: row for row in json.loads(run("account", "list", "--json").stdout)}
    shown = run("account", "show", closed)
    assert listed[closed]["closed"].startswith(today)
    assert f"was closed on {today}" in shown.stderr
    assert json.loads(run("account", "show", closed, "--json").stdout)["closedAt"].startswith(today)


def test_closed_account_gets_no_key(closed: str) -> None:
    result = run("key", "issue", closed)
    assert (result.exit_code, "was closed on" in result.stderr) == (1, True)
    assert all(key.revoked_at for key in list_keys(closed))


def test_closed_account_gets_no_purchases(closed: str, tmp_path: Path) -> None:
    file = tmp_path / "purchases.jsonl"
    file.write_text("{}\n")
    result = run("purchase", "import", str(file), "--account", closed)
    assert (result.exit_code, "was closed on" in result.stderr) == (1, True)


def test_closed_account_gets_no_definitions(closed: str, tmp_path: Path) -> None:
    file = tmp_path / "customer.yaml"
    file.write_text(f"kind: customer\nid: {new_id()}\nfirstName: Zoé\n")
    result = run("definition", "load", str(file), "--account", closed, "--yes")
    assert (result.exit_code, "was closed on" in result.stderr) == (1, True)
    assert list_customers(closed, PageRequest()).meta.total_items == 0
