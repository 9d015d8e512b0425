"""Tests of the rotation of an account's webhook secrets."""

from datetime import UTC, datetime, timedelta

import pytest

from admin.services.accounts.manage import create_account
from admin.services.webhooks.secret import active_webhook_secret, rotate_webhook_secret
from chalicelib.domain import clock
from chalicelib.storage.webhook_secrets import WebhookSecretRow

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

pytestmark = pytest.mark.usefixtures("cloud")


def expiries(account_id: str) -> dict[str, int | None]:
    """Return a dict from each secret of the account to its expiry timestamp."""
    return {row.secret: row.expires_at for row in WebhookSecretRow.query(account_id)}


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
