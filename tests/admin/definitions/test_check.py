"""Which faults of a run's documents are told."""

from typing import Any

import pytest

from admin.definitions.check import check
from admin.definitions.definition import RawDefinition
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.ids import new_id

ACCOUNT = "acc00000-0000-4000-8000-000000000001"
BRAND = "b0000000-0000-4000-8000-000000000001"
STORE = "50000000-0000-4000-8000-000000000001"
CUSTOMER = "c0000000-0000-4000-8000-000000000001"
NOWHERE = "ffffffff-ffff-4fff-8fff-ffffffffffff"


class NothingKnown:
    """One account, which has nothing yet."""

    def has_account(self, account_id: str) -> bool:
        return account_id == ACCOUNT

    def directory(self, account_id: str) -> Directory:
        assert account_id == ACCOUNT
        return Directory.of([])

    def has_customer(self, account_id: str, customer_id: str) -> bool:
        assert account_id == ACCOUNT
        return False


def brand(**more: Any) -> dict[str, Any]:
    return {"kind": "brand", "id": BRAND, "name": "Brand", **more}


def store(**more: Any) -> dict[str, Any]:
    return {"kind": "store", "id": STORE, "brandId": BRAND, "name": "Store", **more}


def customer(**more: Any) -> dict[str, Any]:
    return {"kind": "customer", "id": CUSTOMER, "firstName": "Zoé", **more}


def contact_form(**more: Any) -> dict[str, Any]:
    usual = {"kind": "contactForm", "id": new_id(), "brandId": BRAND, "name": "Form"}
    return usual | {"language": "fr", **more}


def purchase(**more: Any) -> dict[str, Any]:
    usual = {"kind": "purchase", "source": "Opera", "externalId": "1", "storeId": STORE}
    return usual | {"date": "2026-01-02T03:04:05Z", "customerId": CUSTOMER, **more}


def errors_of(*documents: Any, is_all: bool = True) -> list[tuple[int, str, str]]:
    """Place of the document, pointer and code of every fault."""
    found = [RawDefinition(str(place), document) for place, document in enumerate(documents)]
    _, problems = check(found, ACCOUNT, NothingKnown(), is_all=is_all)
    return [
        (int(each.origin), each.input_error.pointer, each.input_error.code) for each in problems
    ]


def test_complete_run_has_no_errors() -> None:
    assert errors_of(purchase(), contact_form(), customer(), store(), brand()) == []


def test_errors_of_all_definitions_are_listed_together() -> None:
    assert errors_of(
        brand(name=""),
        store(brandId=NOWHERE, color=7),
        purchase(date="soon", storeId=NOWHERE, customerId=NOWHERE, customer={"firstName": "A"}),
        contact_form(
            name=3,
            brandId=NOWHERE,
            fields=[{"key": "a", "type": "SLIDER"}, {"key": "b", "type": "SINGLE_SELECT"}],
        ),
        {"kind": "workflow", "id": new_id(), "actions": [{"key": "a", "url": "ftp://x.example"}]},
    ) == [
        (0, "/name", "required"),
        (1, "/color", "wrong_type"),
        (1, "/brandId", "unknown_reference"),
        (2, "/date", "invalid_timestamp"),
        (2, "", "not_allowed"),
        (2, "/storeId", "unknown_reference"),
        (2, "/customerId", "unknown_reference"),
        (3, "/name", "wrong_type"),
        (3, "/fields/0/type", "not_allowed"),
        (3, "/brandId", "unknown_reference"),
        (3, "/fields/1/values", "required"),
        (4, "/name", "required"),
        (4, "/actions/0/url", "invalid_url"),
    ]


@pytest.mark.parametrize(
    "malformed",
    [
        {"name": 3},
        {"id": None},
        {"id": "b1"},
        {"account": "mine"},
        {"account": NOWHERE},
        {"kind": "brnad"},
    ],
)
def test_reference_to_an_invalid_definition_is_not_unknown(malformed: Any) -> None:
    assert {place for place, _, _ in errors_of(brand(**malformed), contact_form())} == {0}


def test_invalid_definition_with_another_id_hides_no_unknown_reference() -> None:
    for malformed in (brand(kind="brnad", id=NOWHERE), {}, "text"):
        errors = errors_of(malformed, contact_form())
        assert (1, "/brandId", "unknown_reference") in errors


def test_reference_to_an_invalid_customer_is_not_unknown() -> None:
    errors = errors_of(customer(id="7"), store(), brand(), purchase())
    assert errors == [(0, "/id", "invalid_uuid")]


def test_invalid_definition_of_another_kind_hides_no_unknown_reference() -> None:
    errors = errors_of(customer(id="7"), contact_form())
    assert errors == [(0, "/id", "invalid_uuid"), (1, "/brandId", "unknown_reference")]


def test_reference_is_not_unknown_while_a_file_is_unreadable() -> None:
    documents = [store(), contact_form(), purchase()]
    assert errors_of(*documents, is_all=False) == []
    assert len(errors_of(*documents)) == 3


def test_definition_without_an_account_is_validated() -> None:
    document = contact_form(account="mine", fields=[{"key": "b", "type": "SINGLE_SELECT"}])
    assert errors_of(document) == [
        (0, "/account", "invalid_uuid"),
        (0, "/fields/0/values", "required"),
    ]
