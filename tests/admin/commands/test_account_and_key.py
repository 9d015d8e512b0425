"""Tests of the commands ``account`` and ``key``."""

import json
import logging
import re
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import NoCredentialsError

from admin import identity
from admin.storage import accounts
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import NotAuthenticated
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.accounts.authenticate import authenticate
from chalicelib.services.caching import clear_caches
from tests.admin.command import minute, new_account, run
from tests.services.moved_time import Time

pytestmark = pytest.mark.usefixtures("cloud")


def issue_key(account: str, *options: str) -> tuple[str, str]:
    result = run("key", "issue", account, *options)
    assert result.exit_code == 0, result.stderr
    key, secret = (line.partition(": ")[2] for line in result.stdout.splitlines())
    return key, secret


def test_account_create_prints_only_account_id() -> None:
    result = run("account", "create", " Café [Minuit] ")
    account = accounts.find(result.stdout.strip())
    assert account
    assert account.name == "Café [Minuit]"
    assert "Café [Minuit]" in result.stderr


def test_account_create_uses_specified_id() -> None:
    account_id = new_id()
    assert run("account", "create", "Own", "--id", account_id.upper()).stdout.strip() == account_id


def test_account_create_rejects_existing_id() -> None:
    account = new_account("First")
    result = run("account", "create", "Second", "--id", account)
    assert result.exit_code == 1
    assert result.stderr == "Error: An account with this id already exists: First.\n"
    stored = accounts.find(account)
    assert stored
    assert stored.name == "First"


@pytest.mark.parametrize(
    "arguments",
    [
        ("account", "create"),
        ("account", "create", "  "),
        ("account", "create", "Name", "--id", "7"),
        ("key", "issue", "not-a-uuid"),
        ("--stage", "No!", "account", "list"),
        ("definition", "load"),
        ("definition", "load", "/nowhere/at/all.yaml"),
        ("no-such-command",),
    ],
)
def test_usage_error_exits_with_status_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr
    assert not result.stdout


def test_account_list_prints_all_accounts() -> None:
    account = new_account("Maison Lumen الرباط")
    listed = run("account", "list").stdout
    assert account in listed
    assert "Maison Lumen الرباط" in listed


def test_issued_key_authenticates_requests_of_its_account() -> None:
    account = new_account()
    assert authenticate(*issue_key(account)).account_id == account


def test_key_secret_is_printed_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    account = new_account()
    result = run("key", "issue", account, "--label", "till")
    key, secret = (line.partition(": ")[2] for line in result.stdout.splitlines())
    assert "cannot be shown again" in result.stderr
    assert secret not in result.stderr
    listed = run("key", "list", account).stdout
    assert key in listed
    assert "till" in listed
    assert secret not in listed
    assert secret not in caplog.text


def test_revoked_key_is_rejected_and_stays_listed() -> None:
    account = new_account()
    key, secret = issue_key(account)
    assert run("key", "revoke", key, "--yes").exit_code == 0
    clear_caches()
    with pytest.raises(NotAuthenticated):
        authenticate(key, secret)
    row = next(line for line in run("key", "list", account).stdout.splitlines() if key in line)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d$", row)


@pytest.mark.parametrize(
    ("command", "options", "cost", "more"),
    [
        ("key issue", ["--expires"], 3, "one more if the time of --expires has no offset."),
        ("webhook-secret rotate", ["--yes", "--at"], 4, "one more if the time of --at has no"),
    ],
)
def test_time_without_offset_costs_request_for_time_zone_of_account(
    command: str, options: list[str], cost: int, more: str
) -> None:
    account = new_account()
    for time, count in (("2030-01-01T00:00:00Z", cost), ("2030-01-02", cost + 1)):
        clear_caches()
        with counted_calls() as calls:
            assert run(*command.split(), account, *options, time).exit_code == 0
        assert calls.total() == count
    assert more in " ".join(run(*command.split(), "--help").stdout.split())


def test_key_revoke_shows_key_before_confirmation(questions: list[str]) -> None:
    account = new_account("Maison Lumen")
    key, secret = issue_key(account, "--label", "till")
    with counted_calls() as calls:
        assert run("key", "revoke", key).exit_code == 1
    assert calls.total() == 2
    assert authenticate(key, secret).account_id == account
    with counted_calls() as calls:
        run("key", "revoke", key, "--yes")
    assert calls.total() == 3
    assert (
        "Cost: three AWS requests; two more without --yes, and two more with --account."
        in run("key", "revoke", "--help").stdout
    )
    run("key", "revoke", key)
    (row,) = json.loads(run("key", "list", account, "--json").stdout)
    described = f'Revoke the key {key} (labelled "till") of the account Maison Lumen, issued at '
    assert questions == [
        f"{described}{minute(row['created'])}?",
        f"{described}{minute(row['created'])}, already revoked at {minute(row['revoked'])}?",
    ]


def test_confirmations_name_account(questions: list[str]) -> None:
    account = new_account("Maison Lumen")
    for options, requests in (((), 1), (("--yes",), 4)):
        with counted_calls() as calls:
            run("webhook-secret", "rotate", account, *options)
        assert calls.total() == requests
    cost = "Cost: four AWS requests; one more without --yes, and"
    assert cost in run("webhook-secret", "rotate", "--help").stdout
    with counted_calls() as calls:
        run("account", "set", account, "--retention-days", "30")
    assert calls.total() == 3
    assert questions == [
        "Replace the secret that signs the webhooks of the account Maison Lumen?",
        "Anonymize all feedback older than 30 days in the account Maison Lumen?"
        " Records that are older now: 0.",
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("key", "issue", new_id()), "Error: There is no account with this id.\n"),
        (("key", "list", new_id()), "Error: There is no account with this id.\n"),
        (("account", "show", new_id()), "Error: There is no account with this id.\n"),
        (("key", "revoke", "fk_0", "--yes"), "Error: There is no API key with this id.\n"),
    ],
)
def test_unknown_account_or_key_is_reported_in_one_line(
    arguments: tuple[str, ...], line: str
) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (1, line)


def test_account_set_changes_all_settings_and_audits_changes() -> None:
    account = new_account("Lumen")
    result = run(
        *("account", "set", account, "--name", "Maison Lumen", "--no-identify-respondents"),
        *("--default-region", "FR", "--time-zone", "Europe/Paris", "--retention-days", "730"),
        *("--yes", "--sending-hours", "09:00-20:00 monday,saturday", "--sms-segment-price", "0.05"),
        *("--sms-countries", "fr,BE", "--sms-daily-limit", "500", "--language", "fr"),
    )
    assert result.exit_code == 0, result.stderr
    shown = json.loads(run("account", "show", account, "--json").stdout)
    assert shown["settings"] == {
        "name": "Maison Lumen",
        "identifyRespondents": False,
        "defaultRegion": "FR",
        "timeZone": "Europe/Paris",
        "language": "fr",
        "sendingHours": {"start": "09:00", "end": "20:00", "weekdays": ["MONDAY", "SATURDAY"]},
        "retentionDays": 730,
        "smsSegmentPrice": 0.05,
        "smsCountries": ["FR", "BE"],
        "smsDailyLimit": 500,
    }
    assert len(shown["changes"]) == 10
    assert all(change["operator"].startswith("arn:aws:") for change in shown["changes"])
    assert {
        "subject": "name",
        "old": "Lumen",
        "new": "Maison Lumen",
    }.items() <= next(c for c in shown["changes"] if c["subject"] == "name").items()


def test_account_set_prints_changes_as_json() -> None:
    account = new_account("Lumen")
    options = ("--name", "Maison Lumen", "--default-region", "off")
    changes = [
        json.loads(run("account", "set", account, *options, "--json").stdout) for _ in range(2)
    ]
    changed = {"setting": "name", "old": "Lumen", "new": "Maison Lumen"}
    assert changes == [{"changes": [changed]}, {"changes": []}]


def history(account: str, *options: str) -> list[tuple[str, Any, Any]]:
    result = run("account", "history", account, *options, "--json")
    assert result.exit_code == 0, result.stderr
    changes = json.loads(result.stdout)
    assert all(change["operator"].startswith("arn:aws:") for change in changes)
    times = [change["changedAt"] for change in changes]
    assert times == sorted(times, reverse=True)
    return [(change["subject"], change["old"], change["new"]) for change in changes]


def test_account_history_lists_changes_of_settings_keys_and_secrets(time: Time) -> None:
    account = new_account("Lumen")
    steps = [
        ("account", "set", account, "--time-zone", "Europe/Paris"),
        ("key", "issue", account),
        ("webhook-secret", "rotate", "--at", "2999-01-01", account, "--yes"),
    ]
    for step in steps:
        time.ahead += timedelta(seconds=1)
        assert run(*step).exit_code == 0
    (key,) = json.loads(run("key", "list", account, "--json").stdout)
    time.ahead += timedelta(seconds=1)
    for _ in range(2):
        run("key", "revoke", key["key"], "--yes")
    expected = [
        (f"key {key['key']}", "issued", "revoked"),
        ("webhook secret 2998-12-31T23:00:00.000Z", None, "created"),
        (f"key {key['key']}", None, "issued with read, write"),
        ("timeZone", "UTC", "Europe/Paris"),
    ]
    assert history(account) == expected
    assert history(account, "--limit", "1") == expected[:1]
    assert history(new_account()) == []
    shown = json.loads(run("account", "show", account, "--json").stdout)["changes"]
    assert [change["subject"] for change in shown] == [subject for subject, _, _ in expected]
    lines = run("account", "history", account).stdout.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == [
        "revoked",
        "created",
        "write",
        "Europe/Paris",
    ]


def test_account_history_sends_two_aws_requests() -> None:
    account = new_account()
    with counted_calls() as calls:
        history(account)
    assert calls.total() == 2
    cost = "Cost: two AWS requests, and one more per 3,000 changes"
    assert cost in run("account", "history", "--help").stdout


def test_issuing_and_revoking_key_each_send_three_aws_requests() -> None:
    account = new_account()
    requests = dict.fromkeys(
        ("sts.GetCallerIdentity", "dynamodb.BatchGetItem", "dynamodb.TransactWriteItems"), 1
    )
    with counted_calls() as calls:
        key, _ = issue_key(account)
    assert dict(calls) == requests
    with counted_calls() as calls:
        run("key", "revoke", key, "--yes")
    assert dict(calls) == requests


def test_key_list_shows_expiry_and_last_use_in_three_aws_requests(time: Time) -> None:
    account, day = new_account(), clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    time.ahead = day - clock.now()
    expires_at = day + timedelta(days=400)
    key, secret = issue_key(account, "--expires", expires_at.isoformat())
    authenticate(key, secret)
    with counted_calls() as calls:
        (shown,) = json.loads(run("key", "list", account, "--json").stdout)
    assert calls.total() == 3
    assert "Cost: three AWS requests" in run("key", "list", "--help").stdout
    assert shown["expiresAt"] == format_timestamp(expires_at)
    assert shown["lastUsedAt"] == f"{day:%Y-%m-%d}"
    assert history(account)[0][-1] == (
        f"issued with read, write until {format_timestamp(expires_at)}"
    )


@pytest.mark.parametrize(("ahead_s", "exit_code"), [(3600, 0), (0, 1), (-3600, 1)])
def test_key_is_not_issued_with_expiry_in_the_past(ahead_s: int, exit_code: int) -> None:
    expires_at = clock.now() + timedelta(seconds=ahead_s)
    result = run("key", "issue", new_account(), "--expires", expires_at.isoformat())
    assert result.exit_code == exit_code
    assert ("The expiry is in the past." in result.stderr) == (exit_code == 1)


def test_account_set_keeps_retention_without_confirmation() -> None:
    account = new_account()
    run("account", "set", account, "--retention-days", "30", "--name", "Lumen")
    settings = json.loads(run("account", "show", account, "--json").stdout)["settings"]
    assert (settings["retentionDays"], settings["name"]) == (None, "Test")
    assert run("account", "set", account, "--retention-days", "off").exit_code == 0


@pytest.mark.parametrize("price", ["nan", "inf", "-0.01", "1000.01"])
def test_account_set_rejects_price_that_is_not_between_limits(price: str) -> None:
    result = run("account", "set", new_account(), f"--sms-segment-price={price}")
    assert result.exit_code == 2
    assert result.stderr.endswith("Must be a price from 0 to 1000, or off.\n")


def test_account_set_with_value_off_restores_default() -> None:
    account = new_account()
    options = ("--default-region", "--time-zone", "--sending-hours", "--retention-days")
    values = ("FR", "Europe/Paris", "09:00-20:00", "730")
    for given in (values, ("off",) * 4):
        arguments = [text for pair in zip(options, given, strict=True) for text in pair]
        assert run("account", "set", account, *arguments, "--yes").exit_code == 0
    lines = [line.split() for line in run("account", "show", account).stdout.splitlines()]
    assert ["timeZone", "UTC"] in lines
    assert ["sendingHours", "off"] in lines
    assert ["sendingHours", "09:00-20:00", "off"] in [line[-3:] for line in lines]
    settings = json.loads(run("account", "show", account, "--json").stdout)["settings"]
    assert settings["timeZone"] == "UTC"
    assert [settings[key] for key in ("defaultRegion", "sendingHours", "retentionDays")] == [
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("options", "status", "line"),
    [
        ((), 2, "Set at least one setting."),
        (("--retention-days", "soon"), 2, "'--retention-days'"),
        (("--retention-days", "30"), 2, "Add --yes to confirm the operation."),
        (("--retention-days", "0", "--yes"), 2, "days from 1 to 3,650, or off.\n"),
        (("--retention-days", "3651", "--yes"), 2, "days from 1 to 3,650, or off.\n"),
        (("--retention-days", "1.5", "--yes"), 2, "days from 1 to 3,650, or off.\n"),
        (("--sending-hours", "9h"), 2, "--sending-hours: Must be a time of the form 09:00"),
        (("--time-zone", "Paris"), 2, "--time-zone: Must be an IANA time zone"),
        (("--default-region", "FRA"), 2, "--default-region: Must be at most 2 characters.\n"),
    ],
)
def test_account_set_reports_invalid_value(
    options: tuple[str, ...], status: int, line: str
) -> None:
    result = run("account", "set", new_account(), *options)
    assert result.exit_code == status
    assert line in result.stderr


def test_operator_identity_is_os_user_if_sts_does_not_respond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sts = Mock(**{"get_caller_identity.side_effect": NoCredentialsError})
    monkeypatch.setattr(identity, "aws_client", lambda _: sts)
    monkeypatch.setattr(identity.getpass, "getuser", lambda: "anna")
    assert identity.operator_identity() == "OS user anna"


def test_key_is_revoked_by_its_label_in_account() -> None:
    account = new_account()
    key, _ = issue_key(account, "--label", "Website")
    other, _ = issue_key(account, "--label", "Till")
    named = ("--account", account, "--yes")
    assert run("key", "revoke", "fk_", *named).exit_code == 1  # both begin with it
    assert run("key", "revoke", "web", *named).exit_code == 0
    assert run("key", "revoke", "website", "--account", new_account(), "--yes").exit_code == 1
    rows = json.loads(run("key", "list", account, "--json").stdout)
    assert {row["key"]: bool(row["revoked"]) for row in rows} == {key: True, other: False}
