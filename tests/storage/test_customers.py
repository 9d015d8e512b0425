"""Tests of the customer repository."""

from datetime import UTC, datetime

import pytest

from admin.services.customers.save import save_customer
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.storage import customer_creation, customers
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def build_customer(**fields: object) -> Customer:
    return Customer(**{"id": new_id(), "created_at": NOW, "updated_at": NOW, **fields})  # type: ignore[arg-type]


def test_find_returns_created_customer() -> None:
    account = new_id()
    customer = build_customer(
        first_name="ليلى",
        last_name="O'Neil\u0000",
        email="Leila@Example.test",
        theForkId="tf-1",
        metadata={"import": {"a": "b"}, "theFork": {"deep": [1, None, {"x": 0.5}]}},
        email_optin=True,
        data_sources=("Survey", "TheFork"),
    )
    customer_creation.create(account, customer)
    assert customers.find(account, customer.id) == customer


def test_replacing_customer_does_not_change_position_and_total() -> None:
    account = new_id()
    first = customer_creation.create(account, build_customer(email="a@example.test"))[0]
    customer_creation.create(account, build_customer())
    save_customer(account, {"id": first.id, "email": "b@example.test"})
    page, total = customers.page(account, PageRequest())
    assert (total, page[0].id, page[0].email) == (2, first.id, "b@example.test")
    old, new = pair_of("a@example.test", None), pair_of("b@example.test", None)
    assert old
    assert new
    assert customers.find_by_pair(account, old.digest) is None
    assert customers.find_by_pair(account, new.digest) == first.id


def test_page_over_one_megabyte_returns_all_customers() -> None:
    account = new_id()
    large = {"import": {"note": "x" * 350_000}}
    ids = [
        customer_creation.create(account, build_customer(metadata=large))[0].id for _ in range(4)
    ]
    with counted_calls() as calls:
        page, _ = customers.page(account, PageRequest(limit=4))
    assert [customer.id for customer in page] == ids
    assert calls["dynamodb.Query"] == 2


@pytest.mark.parametrize(
    ("limit", "page", "queries"), [(50, 2, 1), (100, 2, 1), (60, 2, 2), (99, 2, 2), (60, 4, 0)]
)
def test_loading_page_sends_one_query_per_block(limit: int, page: int, queries: int) -> None:
    account, total = new_id(), 150
    rows = []
    for position in range(1, total + 1):
        customer = build_customer()
        rows.append(customers.customer_key(account, customer.id).row())
        customers.set_fields(rows[-1], account, customer)
        rows[-1].list_at(account, position)
    with CustomerRow.batch_write() as batch:
        for row in rows:
            batch.save(row)
    CounterRow(account, Listed.CUSTOMERS.value, total=total).save()
    with counted_calls() as calls:
        items, _ = customers.page(account, PageRequest(limit=limit, page=page))
    expected = rows[(page - 1) * limit : page * limit]
    assert [customer.id for customer in items] == [row.id for row in expected]
    assert calls["dynamodb.Query"] == queries
    assert calls.total() == 1 + queries


def test_replaced_customer_is_found_only_by_new_email_and_phone_number() -> None:
    account = new_id()
    customer = build_customer(email="old@example.test", phone_number="123456")
    customer_creation.create(account, customer)
    save_customer(account, {"id": customer.id, "email": "new@example.test", "phoneNumber": None})
    assert [c.id for c in customers.find_by_email(account, "new@example.test")] == [customer.id]
    assert customers.find_by_email(account, "old@example.test") == []
    assert customers.find_by_phone_numbers(account, ["123456"]) == []


def test_customer_is_found_by_phone_number_that_import_filled() -> None:
    account = new_id()
    customer = build_customer(email="zoe@example.test")
    customer_creation.create(account, customer)

    def fill(rows: Rows) -> None:
        rows.prefetch(customers.customer_key(account, customer.id))
        customers.fill(rows, account, customer.id, {"phone_number": "06 12 34"}, NOW)

    commit(fill)
    assert [c.id for c in customers.find_by_phone_numbers(account, ["061234"])] == [customer.id]
    assert [c.id for c in customers.find_by_email(account, "zoe@example.test")] == [customer.id]
