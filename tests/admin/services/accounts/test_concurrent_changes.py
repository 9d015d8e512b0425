"""Test that no concurrent change of an account is lost."""

from datetime import timedelta

import pytest

from admin.services.accounts import manage
from admin.services.accounts.manage import (
    add_change,
    create_account,
    issue_key,
    last_changes,
    list_keys,
    require_key,
    revoke_key,
)
from admin.services.close_account import close_account
from admin.services.webhooks.secret import rotate_webhook_secret
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.storage.accounts import AccountRow
from chalicelib.storage.credentials import CredentialRow
from tests.aws.faults import before_request
from tests.services.moved_time import Time


def test_changes_of_same_subject_at_same_time_are_both_in_history(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)

    def add_another() -> None:
        nonlocal now
        add_change(account, "loaded", "bob", 2)
        now += timedelta(milliseconds=1)

    with before_request("PutItem", add_another):
        add_change(account, "loaded", "anna", 1)
    assert [change.operator for change in last_changes(account, 3)] == ["anna", "bob"]


def test_new_key_does_not_replace_key_with_same_id(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_account("Lumen", account)
    keys = iter(["fk_1", "fk_1", "fk_2"])
    monkeypatch.setattr(manage, "new_api_key", lambda: next(keys))
    first = issue_key(account, "operator")[0]
    time.ahead += timedelta(seconds=1)
    second = issue_key(account, "operator")[0]
    assert {key.api_key: key.secret_hash for key in list_keys(account)} == {
        "fk_1": first.secret_hash,
        "fk_2": second.secret_hash,
    }


def test_account_that_is_closed_at_the_same_time_gets_no_key(account: str) -> None:
    create_account("Lumen", account)
    with (
        before_request("TransactWriteItems", lambda: close_account(account, "bob", lambda _: None)),
        pytest.raises(Conflict, match="The account Lumen was closed"),
    ):
        issue_key(account, "anna")
    assert list_keys(account) == []


def test_key_that_is_revoked_twice_at_once_is_revoked_once(account: str, time: Time) -> None:
    create_account("Lumen", account)
    key = issue_key(account, "operator")[0].api_key

    def revoke_earlier() -> None:
        revoke_key(key, "bob")
        time.ahead += timedelta(seconds=1)

    with before_request("TransactWriteItems", revoke_earlier):
        revoke_key(key, "anna")
    revocation, issue = last_changes(account, 3)
    assert (revocation.operator, issue.operator) == ("bob", "operator")
    assert require_key(key).revoked_at == revocation.changed_at


def test_deleted_account_and_key_are_not_created_again(account: str) -> None:
    create_account("Lumen", account)
    key = issue_key(account, "operator")[0].api_key
    with before_request("TransactWriteItems", CredentialRow(key).delete), pytest.raises(NotFound):
        revoke_key(key, "anna")
    with before_request("TransactWriteItems", AccountRow(account).delete), pytest.raises(NotFound):
        rotate_webhook_secret(account, "anna")
