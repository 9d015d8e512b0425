"""Tests of list endpoints: validation of the page request and the `meta` object of the response."""

from typing import Any

import pytest

from admin.services.customers.save import save_customer
from tests.web.definitions import customer_definition
from tests.web.partner_client import Partner

LISTS = ["/partners/contact-form/list", "/partners/survey/list", "/partners/customer/list"]


@pytest.mark.parametrize("path", LISTS)
def test_empty_list_request_uses_default_limit_and_page(partner: Partner, path: str) -> None:
    response = partner.post(path, b"", {"Content-Type": "text/plain"})
    assert response.status == 201
    assert response.json == {
        "items": [],
        "meta": {
            "itemCount": 0,
            "totalItems": 0,
            "itemsPerPage": 10,
            "totalPages": 0,
            "currentPage": 1,
        },
    }


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"limit": 0}, [("/limit", "out_of_range")]),
        ({"limit": 101}, [("/limit", "out_of_range")]),
        ({"page": 0}, [("/page", "out_of_range")]),
        ({"page": 2**53}, [("/page", "out_of_range")]),
        ({"limit": "10"}, [("/limit", "wrong_type")]),
        ({"limit": True}, [("/limit", "wrong_type")]),
        ({"limit": None}, [("/limit", "wrong_type")]),
        ({"limit": 1.5}, [("/limit", "not_whole")]),
        ({"limit": [], "page": {}}, [("/limit", "wrong_type"), ("/page", "wrong_type")]),
        (
            {"limit": 101, "page": 0, "x/~y": 1},
            [("/limit", "out_of_range"), ("/page", "out_of_range"), ("/x~1~0y", "unknown_key")],
        ),
        ([], [("", "wrong_type")]),
        (None, [("", "wrong_type")]),
        ("x", [("", "wrong_type")]),
    ],
)
def test_response_to_invalid_page_request_lists_every_error(
    partner: Partner, body: Any, errors: list[tuple[str, str]]
) -> None:
    assert partner.post("/partners/customer/list", body).errors == errors


@pytest.mark.parametrize(
    "body",
    [{"limit": 1}, {"limit": 100}, {"limit": 10.0}, {"page": 2**53 - 1}, {"page": 1e3}, {}],
)
def test_valid_page_request_is_accepted(partner: Partner, body: dict[str, float]) -> None:
    response = partner.post("/partners/customer/list", body)
    assert response.status == 201
    assert response.json["meta"]["itemsPerPage"] == body.get("limit", 10)
    assert response.json["meta"]["currentPage"] == body.get("page", 1)


def test_page_after_last_page_is_empty_and_contains_totals(partner: Partner) -> None:
    for _ in range(3):
        save_customer(partner.account_id, customer_definition())
    meta = partner.post("/partners/customer/list", {"limit": 2, "page": 9}).json["meta"]
    assert meta == {
        "itemCount": 0,
        "totalItems": 3,
        "itemsPerPage": 2,
        "totalPages": 2,
        "currentPage": 9,
    }
