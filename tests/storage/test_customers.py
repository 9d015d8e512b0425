"""The customers table."""

from datetime import UTC, datetime

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.storage import customers

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def a_customer(**fields: object) -> Customer:
    return Customer(**{"id": new_id(), "created_at": NOW, "updated_at": NOW, **fields})  # type: ignore[arg-type]


def test_customer_is_loaded_as_it_was_saved() -> None:
    account = new_id()
    customer = a_customer(
        first_name="ليلى",
        last_name="O'Neil\u0000",
        email="Leila@Example.test",
        theForkId="tf-1",
        metadata={"import": {"a": "b"}, "theFork": {"deep": [1, None, {"x": 0.5}]}},
        email_optin=True,
        data_sources=("Survey", "TheFork"),
    )
    customers.create(account, customer)
    assert customers.find(account, customer.id) == customer


def test_customer_is_not_found_by_another_account() -> None:
    customer = customers.create(new_id(), a_customer())[0]
    assert customers.find(new_id(), customer.id) is None


def test_pages_are_complete_and_in_creation_order() -> None:
    account = new_id()
    made = [customers.create(account, a_customer(first_name=str(n)))[0].id for n in range(7)]
    pages = [customers.page(account, PageRequest(limit=3, page=n)) for n in (1, 2, 3, 4)]
    assert [[c.id for c in page] for page, _ in pages] == [made[:3], made[3:6], made[6:], []]
    assert {total for _, total in pages} == {7}


def test_customer_created_twice_with_one_id_exists_once() -> None:
    account = new_id()
    customer = a_customer(email="a@example.test")
    customers.create(account, customer)
    assert customers.create(account, customer)[0] == customer
    assert customers.page(account, PageRequest())[1] == 1


def test_pair_finds_its_oldest_customer() -> None:
    account = new_id()
    oldest = customers.create(account, a_customer(email="A@example.test", phone_number="0033 1"))[0]
    customers.create(account, a_customer(email="a@example.test", phone_number="+33-1"))
    pair = pair_of("a@EXAMPLE.test", "+331")
    assert pair
    assert customers.find_by_pair(account, pair) == oldest.id


def test_replaced_customer_keeps_position_and_counts() -> None:
    account = new_id()
    first = customers.create(account, a_customer(email="a@example.test"))[0]
    customers.create(account, a_customer())
    customers.replace(account, a_customer(id=first.id, email="b@example.test"))
    page, total = customers.page(account, PageRequest())
    assert (total, page[0].id, page[0].email) == (2, first.id, "b@example.test")
    old, new = pair_of("a@example.test", None), pair_of("b@example.test", None)
    assert old
    assert new
    assert customers.find_by_pair(account, old) is None
    assert customers.find_by_pair(account, new) == first.id


def test_page_of_more_than_one_response_is_complete() -> None:
    account = new_id()
    large = {"import": {"note": "x" * 350_000}}
    made = [customers.create(account, a_customer(metadata=large))[0].id for _ in range(4)]
    with counted_calls() as calls:
        page, _ = customers.page(account, PageRequest(limit=4))
    assert [customer.id for customer in page] == made
    assert calls["dynamodb.Query"] == 2
