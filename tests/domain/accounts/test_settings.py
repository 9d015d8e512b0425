"""Test that account settings accept valid values and reject invalid values."""

from datetime import UTC, datetime, time
from typing import Any

import pytest

from admin.services.accounts.settings import change_settings
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.settings import (
    MAX_DAILY_TEXTS,
    MAX_RETENTION_DAYS,
    MAX_SEGMENT_PRICE,
    AccountSettings,
    Weekday,
    country_codes,
)
from chalicelib.domain.errors import InvalidInput

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
CURRENT = AccountSettings(name="Maison Lumen")


def changed(**changes: Any) -> AccountSettings:
    return change_settings(CURRENT, changes, "anna", NOW)[0]


def test_omitted_settings_have_default_values() -> None:
    assert CURRENT.model_dump(mode="json") == {
        "name": "Maison Lumen",
        "identifyRespondents": True,
        "defaultRegion": None,
        "timeZone": "UTC",
        "language": "en",
        "sendingHours": None,
        "retentionDays": None,
        "smsSegmentPrice": None,
        "smsCountries": None,
        "smsDailyLimit": None,
    }


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("name", "A"),
        ("name", "x" * 255),
        ("identifyRespondents", False),
        ("defaultRegion", "FR"),
        ("timeZone", "Asia/Tokyo"),
        ("language", "zh-TW"),
        ("sendingHours", {"start": "00:00", "end": "00:01", "weekdays": ["SUNDAY"]}),
        ("sendingHours", {"start": "09:00", "end": "23:59", "weekdays": list(Weekday)}),
        ("retentionDays", 1),
        ("retentionDays", MAX_RETENTION_DAYS),
        ("smsCountries", ["FR", "BE"]),
        ("smsCountries", []),
        ("smsDailyLimit", 1),
        ("smsDailyLimit", MAX_DAILY_TEXTS),
        ("smsSegmentPrice", 0),
        ("smsSegmentPrice", 0.0075),
        ("smsSegmentPrice", MAX_SEGMENT_PRICE),
    ],
)
def test_valid_setting_is_stored_and_restored(setting: str, value: Any) -> None:
    stored = changed(**{setting: value}).model_dump(mode="json", exclude_defaults=True)
    restored = AccountSettings.model_validate({"name": "Maison Lumen", **stored})
    assert restored.model_dump(mode="json")[setting] == value


@pytest.mark.parametrize(
    ("setting", "value", "pointer"),
    [
        ("name", "  ", "/name"),
        ("name", "x" * 256, "/name"),
        ("name", None, "/name"),
        ("identifyRespondents", "no", "/identifyRespondents"),
        ("defaultRegion", "fr", "/defaultRegion"),
        ("defaultRegion", "XX", "/defaultRegion"),
        ("defaultRegion", "#", "/defaultRegion"),
        ("timeZone", "Europe", "/timeZone"),
        ("timeZone", "right/Europe/Paris", "/timeZone"),
        ("timeZone", "../zones", "/timeZone"),
        ("sendingHours", {"start": "09:00"}, "/sendingHours/end"),
        ("sendingHours", {"start": "09:00", "end": "24:00"}, "/sendingHours/end"),
        ("sendingHours", {"start": "09:00", "end": "10:00:30"}, "/sendingHours/end"),
        ("sendingHours", {"start": "09:00", "end": "09:00"}, "/sendingHours"),
        (
            "sendingHours",
            {"start": "09:00", "end": "10:00", "weekdays": []},
            "/sendingHours/weekdays",
        ),
        (
            "sendingHours",
            {"start": "09:00", "end": "10:00", "weekdays": ["SUNDAY", "SUNDAY"]},
            "/sendingHours",
        ),
        ("retentionDays", 0, "/retentionDays"),
        ("retentionDays", MAX_RETENTION_DAYS + 1, "/retentionDays"),
        ("retentionDays", "30", "/retentionDays"),
        ("smsCountries", ["001"], "/smsCountries/0"),
        ("smsDailyLimit", 0, "/smsDailyLimit"),
        ("smsDailyLimit", MAX_DAILY_TEXTS + 1, "/smsDailyLimit"),
        ("smsSegmentPrice", -0.01, "/smsSegmentPrice"),
        ("smsSegmentPrice", MAX_SEGMENT_PRICE + 0.01, "/smsSegmentPrice"),
        ("colour", "red", "/colour"),
    ],
)
def test_invalid_setting_is_rejected(setting: str, value: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        changed(**{setting: value})
    assert [error.pointer for error in raised.value.errors] == [pointer]


def test_sending_hours_without_weekdays_apply_on_all_days() -> None:
    hours = changed(sendingHours={"start": "09:00", "end": "20:00"}).sending_hours
    assert hours
    assert (hours.start, hours.end, hours.weekdays) == (time(9), time(20), list(Weekday))


def test_null_restores_default() -> None:
    current = changed(timeZone="Asia/Tokyo", retentionDays=30)
    restored, _ = change_settings(current, {"timeZone": None, "retentionDays": None}, "anna", NOW)
    assert restored == CURRENT


def test_only_settings_with_another_value_are_reported_as_changed() -> None:
    _, changes = change_settings(CURRENT, {"timeZone": "UTC", "defaultRegion": "MA"}, "anna", NOW)
    assert changes == [AccountChange(NOW, "defaultRegion", "anna", None, "MA")]


def test_country_codes_equal_codes_of_iso_3166() -> None:
    assert len(country_codes()) > 240
    assert {"FR", "MA", "JP", "GB"} <= country_codes()
    assert "UK" not in country_codes()
