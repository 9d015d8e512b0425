"""Test that changes of settings are audited and that functions cache settings for a minute."""

from datetime import timedelta

import pytest

from admin.services.accounts.manage import create_account, last_changes, require_account
from admin.services.accounts.settings import change_account_settings, current_settings
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import InvalidInput, NotFound
from chalicelib.domain.ids import new_id
from chalicelib.services import caching
from chalicelib.services.accounts.settings import account_settings
from tests.aws.faults import before_request
from tests.services.moved_time import Time


def test_unknown_account_has_default_settings(account: str) -> None:
    assert account_settings(account).identify_respondents
    with pytest.raises(NotFound):
        change_account_settings(new_id(), {"timeZone": "Asia/Tokyo"}, "anna")


def test_audited_changes_are_listed_newest_first(account: str, time: Time) -> None:
    create_account("Lumen", account)
    change_account_settings(account, {"retentionDays": 30, "name": "Maison Lumen"}, "anna")
    time.ahead += timedelta(seconds=1)
    change_account_settings(account, {"retentionDays": None}, "bob")
    assert [
        (change.operator, change.subject, change.old, change.new)
        for change in last_changes(account, 3)
    ] == [
        ("bob", "retentionDays", 30, None),
        ("anna", "retentionDays", None, 30),
        ("anna", "name", "Lumen", "Maison Lumen"),
    ]
    assert require_account(account).name == "Maison Lumen"


def test_invalid_change_changes_nothing(account: str) -> None:
    create_account("Lumen", account)
    with pytest.raises(InvalidInput):
        change_account_settings(account, {"retentionDays": 30, "timeZone": "Mars"}, "anna")
    assert current_settings(account).retention_days is None
    assert last_changes(account, 1) == []


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"name": "Minuit"}, {"name": "Maison Lumen"}),
        ({"timeZone": "Africa/Casablanca", "defaultRegion": "MA"}, {"timeZone": "Asia/Tokyo"}),
    ],
)
def test_concurrent_change_is_not_lost(
    account: str, theirs: dict[str, str], ours: dict[str, str]
) -> None:
    create_account("Lumen", account)
    with before_request(
        "TransactWriteItems", lambda: change_account_settings(account, theirs, "bob")
    ):
        change_account_settings(account, ours, "anna")
    assert current_settings(account).default_region == theirs.get("defaultRegion")
    (last,) = last_changes(account, 1)
    assert (last.operator, last.old) == ("anna", theirs[last.subject])


def test_settings_are_cached_for_up_to_a_minute(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_account("Lumen", account)
    now = caching.wall_clock_s()
    monkeypatch.setattr(caching, "wall_clock_s", lambda: now)
    with counted_calls() as calls:
        account_settings(account)
        account_settings(account)
    assert dict(calls) == {"dynamodb.GetItem": 1}
    change_account_settings(account, {"identifyRespondents": False}, "anna")
    monkeypatch.setattr(caching, "wall_clock_s", lambda: now + 60)
    assert not account_settings(account).identify_respondents
