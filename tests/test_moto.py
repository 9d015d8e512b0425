"""Test that the patches that make moto fast have an effect."""

import pytest
from botocore.client import BaseClient

from chalicelib.storage.customers import CustomerRow


def test_requests_of_service_reach_moto_without_http(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(BaseClient, "_make_request")
    assert not [row for row in CustomerRow.scan() if row.account_id == account]
