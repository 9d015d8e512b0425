"""Test which AWS requests each endpoint sends without contention and with warm caches."""

from collections.abc import Callable

import pytest

from admin.services.customers.save import save_customer
from chalicelib.aws_calls import counted_calls
from tests.web.definitions import customer_definition
from tests.web.loaded_account import LoadedAccount
from tests.web.partner_client import Partner, Response

SendRequest = Callable[[LoadedAccount], Response]


def cost_of(send: SendRequest, loaded: LoadedAccount) -> dict[str, int]:
    with counted_calls() as calls:
        assert send(loaded).status in (200, 201)
    return dict(calls)


@pytest.mark.parametrize(
    ("send", "cost"),
    [
        (lambda account: account.partner.get(account.paths["customer"]), {"dynamodb.GetItem": 1}),
        (lambda account: account.partner.get(account.paths["purchase"]), {"dynamodb.GetItem": 2}),
        (lambda account: account.partner.get(account.paths["contact form"]), {"dynamodb.Query": 1}),
        (lambda account: account.partner.get(account.paths["survey"]), {"dynamodb.Query": 1}),
        (
            lambda account: account.partner.post("/partners/customer/list", {}),
            {"dynamodb.GetItem": 1, "dynamodb.Query": 1},
        ),
        (
            lambda account: account.partner.post("/partners/contact-form/list", {}),
            {"dynamodb.GetItem": 1, "dynamodb.Query": 1, "dynamodb.BatchGetItem": 1},
        ),
        (
            lambda account: account.partner.post("/partners/survey/list", {}),
            {"dynamodb.GetItem": 1, "dynamodb.Query": 1, "dynamodb.BatchGetItem": 1},
        ),
        (
            lambda account: account.partner.post("/partners/customer/list", {"page": 9}),
            {"dynamodb.GetItem": 1},
        ),
    ],
    ids=[
        "customer", "purchase", "contact form", "survey", "customers", "contact forms", "surveys",
        "customers page past the end",
    ],
)  # fmt: skip
def test_read_endpoint_sends_expected_aws_requests(
    warm: LoadedAccount, send: SendRequest, cost: dict[str, int]
) -> None:
    assert cost_of(send, warm) == cost


def test_last_page_sends_same_aws_requests_as_first_page(partner: Partner) -> None:
    for _ in range(12):
        save_customer(partner.account_id, customer_definition())
    partner.post("/partners/customer/list", {})
    costs = []
    for page in (1, 6):
        with counted_calls() as calls:
            response = partner.post("/partners/customer/list", {"limit": 2, "page": page})
        assert response.json["meta"]["itemCount"] == 2
        costs.append(dict(calls))
    assert costs[0] == costs[1]
