"""Test that customers are found by a part of their name on all pages of the list."""

import pytest

from chalicelib.services.customers import find
from chalicelib.services.customers.find import find_by_name
from chalicelib.services.customers.save import save_customer
from tests.web.definitions import customer_definition


def test_customers_are_found_by_name_in_all_pages(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MAX_LIMIT", 2)
    names = ("Zoé", "Ali", "ZOÉ", "Léa", "Zoélie")
    stored = [
        save_customer(account, customer_definition(firstName=name, lastName="B")).first_name
        for name in names
    ]
    assert stored == list(names)
    read: list[tuple[int, int]] = []
    found = find_by_name(account, "zoé", lambda count, total: read.append((count, total)))
    assert [customer.first_name for customer in found] == ["Zoé", "ZOÉ", "Zoélie"]
    assert read == [(2, 5), (2, 5), (1, 5)]


def test_customer_is_found_by_full_name_and_company(account: str) -> None:
    save_customer(account, customer_definition(displayName="Dr Z", company="Lumen SA"))
    for text in ("zoé martin", "dr z", "lumen"):
        assert len(list(find_by_name(account, text))) == 1


def test_account_without_customers_finds_none(account: str) -> None:
    assert list(find_by_name(account, "a")) == []
