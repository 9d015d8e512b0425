"""Tests of the rotation of an account's webhook secrets."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from admin.services.accounts.manage import create_account
from admin.services.webhooks.secret import (
    NewSecret,
    rotate_webhook_secret,
    signing_webhook_secrets,
)
from chalicelib.domain import clock
from chalicelib.storage.webhook_secrets import WebhookSecretRow
from tests.aws.faults import before_request
from tests.services.moved_time import Time

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

pytestmark = pytest.mark.usefixtures("cloud")


def expiries(account_id: str) -> dict[str, int | None]:
    """Return a dict from each secret of the account to its expiry timestamp."""
    return {row.secret: row.expires_at for row in WebhookSecretRow.query(account_id)}


def active_webhook_secret(account_id: str) -> str | None:
    return next(iter(signing_webhook_secrets(account_id, clock.now())), None)


def rotate_at(now: datetime, account_id: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(clock, "now", lambda: now)
    return rotate_webhook_secret(account_id, "operator").secret


def seconds(at: datetime) -> int:
    return int(at.timestamp())


def test_replaced_secret_expires_a_day_after_rotation(monkeypatch: pytest.MonkeyPatch) -> None:
    account_id = create_account("Account").id
    first = rotate_at(START, account_id, monkeypatch)
    assert expiries(account_id) == {first: None}
    second = rotate_at(START + HOUR, account_id, monkeypatch)
    third = rotate_at(START + 2 * HOUR, account_id, monkeypatch)
    assert expiries(account_id) == {
        first: seconds(START + HOUR + DAY),
        second: seconds(START + 2 * HOUR + DAY),
        third: None,
    }


def test_active_secret_expires_a_day_after_its_successor_becomes_active(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account_id = create_account("Account").id
    first = rotate_at(START, account_id, monkeypatch)
    activation_time = START + 3 * DAY
    rotate_webhook_secret(account_id, "operator", START + HOUR)
    successor = rotate_webhook_secret(account_id, "operator", activation_time).secret
    assert active_webhook_secret(account_id) == first
    assert expiries(account_id) == {first: seconds(activation_time + DAY), successor: None}


@pytest.mark.parametrize("first_count", [0, 1])
@pytest.mark.parametrize("request_number", range(5))
def test_only_one_secret_of_concurrent_rotations_never_expires(
    time: Time, first_count: int, request_number: int
) -> None:
    account_id = create_account("Account").id
    for _ in range(first_count):
        rotate_webhook_secret(account_id, "operator")
        time.ahead += HOUR

    def rotate() -> NewSecret:
        time.ahead += timedelta(seconds=1)
        return rotate_webhook_secret(account_id, "operator")

    with before_request(request_number, rotate):
        newest = rotate()
    stored = expiries(account_id)
    assert [secret for secret, expires_at in stored.items() if expires_at is None] == [
        active_webhook_secret(account_id)
    ]
    assert newest.secret in stored


def test_secret_of_concurrent_rotation_expires_a_day_later(time: Time) -> None:
    account_id = create_account("Account").id
    rotated: list[NewSecret] = []

    def rotate() -> None:
        time.ahead += timedelta(seconds=1)
        rotated.append(rotate_webhook_secret(account_id, "operator"))
        time.ahead += timedelta(seconds=1)

    with before_request(1, rotate):
        rotate_webhook_secret(account_id, "operator")
    assert expiries(account_id)[rotated[0].secret] is not None


@pytest.mark.parametrize("first_count", [0, 1])
def test_rotation_reads_again_if_newest_secret_is_not_visible_yet(
    monkeypatch: pytest.MonkeyPatch, time: Time, first_count: int
) -> None:
    account_id = create_account("Account").id
    for _ in range(1 + first_count):
        rotate_webhook_secret(account_id, "operator")
        time.ahead += HOUR
    hidden = active_webhook_secret(account_id)
    query = WebhookSecretRow.query
    reads = iter([True])

    def first_without_newest(*arguments: Any, **options: Any) -> Any:
        rows = list(query(*arguments, **options))
        return [row for row in rows if row.secret != hidden] if next(reads, False) else rows

    monkeypatch.setattr(WebhookSecretRow, "query", first_without_newest)
    rotate_webhook_secret(account_id, "operator")
    stored = expiries(account_id)
    assert stored[hidden or ""] is not None
    assert list(stored.values()).count(None) == 1
