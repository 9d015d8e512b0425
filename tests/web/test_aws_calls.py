"""AWS requests per endpoint, without contention and with warm caches."""

from collections.abc import Callable

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.services.customers.save import save_customer
from tests.web.loading import customer_document
from tests.web.one_of_each import Loaded
from tests.web.partner_client import Partner, Response

Ask = Callable[[Loaded], Response]


def cost_of(ask: Ask, loaded: Loaded) -> dict[str, int]:
    with counted_calls() as calls:
        assert ask(loaded).status in (200, 201)
    return dict(calls)


@pytest.mark.parametrize(
    ("ask", "cost"),
    [
        (lambda it: it.partner.get(it.paths["customer"]), {"dynamodb.GetItem": 1}),
        (lambda it: it.partner.get(it.paths["purchase"]), {"dynamodb.GetItem": 2}),
        (lambda it: it.partner.get(it.paths["contact form"]), {"dynamodb.Query": 1}),
        (lambda it: it.partner.get(it.paths["survey"]), {"dynamodb.Query": 1}),
        (
            lambda it: it.partner.post("/partners/customer/list", {}),
            {"dynamodb.GetItem": 1, "dynamodb.Query": 1},
        ),
        (
            lambda it: it.partner.post("/partners/contact-form/list", {}),
            {"dynamodb.GetItem": 1, "dynamodb.Query": 1, "dynamodb.BatchGetItem": 1},
        ),
        (
            lambda it: it.partner.post("/partners/survey/list", {}),
            {"dynamodb.GetItem": 1, "dynamodb.Query": 1, "dynamodb.BatchGetItem": 1},
        ),
        (
            lambda it: it.partner.post("/partners/customer/list", {"page": 9}),
            {"dynamodb.GetItem": 1},
        ),
    ],
    ids=[
        "customer", "purchase", "contact form", "survey", "customers", "contact forms", "surveys",
        "a page past the end",
    ],
)  # fmt: skip
def test_read_endpoint_makes_expected_aws_requests(
    warm: Loaded, ask: Ask, cost: dict[str, int]
) -> None:
    assert cost_of(ask, warm) == cost


def test_last_page_makes_same_requests_as_first_page(partner: Partner) -> None:
    for _ in range(12):
        save_customer(partner.account_id, customer_document())
    partner.post("/partners/customer/list", {})
    costs = []
    for page in (1, 6):
        with counted_calls() as calls:
            response = partner.post("/partners/customer/list", {"limit": 2, "page": page})
        assert response.json["meta"]["itemCount"] == 2
        costs.append(dict(calls))
    assert costs[0] == costs[1]
