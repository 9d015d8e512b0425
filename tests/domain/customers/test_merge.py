"""Tests that compare the merge of imported rows with a simple reference implementation."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.import_batch import groups_from_json, groups_to_json
from chalicelib.domain.customers.merge import (
    IMPORT_METADATA,
    RowOutcome,
    effect_of,
    fields_of,
    group_rows,
)
from chalicelib.domain.parsing import MAX_CUSTOMER_BYTES, parse
from tests.domain.forms.factories import NOW

EMAILS = ["a@example.test", "A@Example.test", "b@example.test"]
PHONES = ["+33612", "0033 6-12", "(+33) 6.12", "+44"]
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "email": st.sampled_from(EMAILS),
        "phoneNumber": st.sampled_from(PHONES),
        "firstName": st.sampled_from(["Zoé", "ليلى"]),
        "lastName": st.sampled_from(["Martin"]),
        "displayName": st.sampled_from(["Z."]),
        "theForkId": st.sampled_from(["1", "2"]),
        "language": st.sampled_from(["fr", "ar"]),
        "metadata": st.sampled_from([{"a": "b"}, {"c": "d"}]),
        "smsOptin": st.booleans(),
        "emailOptin": st.booleans(),
    },
).filter(bool)
BATCHES = st.lists(st.lists(ROWS, min_size=1, max_size=8), min_size=1, max_size=4)


@dataclass
class ReferenceImporter:
    """A reference implementation of the importer. It creates and fills customers row by row."""

    customers: list[dict[str, Any]] = field(default_factory=list)
    pairs: dict[tuple[str, str], int] = field(default_factory=dict)

    def import_row(self, row: dict[str, Any]) -> str:
        email = row.get("email", "").lower()
        phone = row.get("phoneNumber", "")
        for filling in " .-()":
            phone = phone.replace(filling, "")
        phone = "+" + phone[2:] if phone.startswith("00") else phone
        names = [row[name] for name in ("firstName", "lastName") if name in row]
        submitted = {"displayName": " ".join(names)} | row if names else dict(row)
        known = self.pairs.get((email, phone))
        if known is None:
            if email or phone:
                self.pairs[email, phone] = len(self.customers)
            self.customers.append(submitted)
            return "created"
        customer = self.customers[known]
        new_fields = {
            name: value
            for name, value in submitted.items()
            if name not in customer and name not in ("smsOptin", "emailOptin")
        }
        customer |= new_fields
        return "filled" if new_fields else "unchanged"


def blank(**fields: Any) -> Customer:
    return Customer(id="", created_at=NOW, updated_at=NOW, **fields)


def with_contract_names(fields: dict[str, Any]) -> dict[str, Any]:
    names = {name: str(f.alias) for name, f in CustomerBody.model_fields.items()}
    return {names.get(n, n): v for n, v in fields.items() if n != IMPORT_METADATA} | (
        {"metadata": fields[IMPORT_METADATA]} if IMPORT_METADATA in fields else {}
    )


@given(BATCHES)
def test_merge_result_equals_result_of_reference_importer(
    batches: list[list[dict[str, Any]]],
) -> None:
    reference = ReferenceImporter()
    customers: list[dict[str, Any]] = []
    stored: list[Customer] = []
    by_pair: dict[str, int] = {}
    for batch in batches:
        predicted = [reference.import_row(row) for row in batch]
        outcomes = [""] * len(batch)
        for group in group_rows(enumerate(parse(row, CustomerBody) for row in batch)):
            known = by_pair.get(group.digest) if group.digest else None
            customer = blank() if known is None else stored[known]
            effect = effect_of(group, customer, exists=known is not None)
            if known is None:
                known = len(customers)
                customers.append({})
                stored.append(effect.customer)
                if group.digest:
                    by_pair[group.digest] = known
            assert effect.creates == (customers[known] == {})
            assert not effect.fields.keys() & customers[known].keys()
            customers[known] |= effect.fields
            stored[known] = effect.customer
            for row, outcome in zip(group.rows, effect.outcomes, strict=True):
                outcomes[row.index] = outcome.value
        assert outcomes == predicted
    assert [with_contract_names(customer) for customer in customers] == reference.customers


@given(st.sampled_from([None, *EMAILS]), st.sampled_from([None, *PHONES]))
def test_pair_ignores_email_case_and_phone_formatting(email: str | None, phone: str | None) -> None:
    pair = pair_of(email, phone)
    if email is None and phone is None:
        assert pair is None
        return
    assert pair is not None
    respaced = " ".join(phone).replace("+", "00", 1).replace("0 0", "00") if phone else None
    assert pair_of(email.upper() if email else None, respaced) == pair
    halves = [pair_of(email, None), pair_of(None, phone)]
    if email and phone:
        assert pair not in halves


@given(st.lists(ROWS, min_size=1, max_size=30))
def test_deserialized_groups_equal_serialized_groups(rows: list[dict[str, Any]]) -> None:
    groups = group_rows(enumerate(parse(row, CustomerBody) for row in rows))
    assert groups_from_json(groups_to_json(groups)) == tuple(groups)
    assert sorted(row.index for group in groups for row in group.rows) == [*range(len(rows))]


def test_rows_with_same_pair_form_one_group() -> None:
    body = parse({"email": "a@example.test", "firstName": "Zoé"}, CustomerBody)
    (group,) = group_rows((n, body) for n in range(10_000))
    assert len(group.rows) == 10_000
    assert len(groups_to_json([group])) < 150_000
    effect = effect_of(group, blank(), exists=False)
    assert effect.fields == fields_of(body)
    assert effect.outcomes == (RowOutcome.CREATED, *[RowOutcome.UNCHANGED] * 9_999)


def test_row_over_size_limit_does_not_fail_other_rows_of_group() -> None:
    rows = [{"company": "x" * 60}, {"description": "y" * 1_900}, {"firstName": "Zoé"}]
    (group,) = group_rows(
        (n, parse({"email": "a@example.test"} | row, CustomerBody)) for n, row in enumerate(rows)
    )
    large = blank(metadata={"site": "x" * (MAX_CUSTOMER_BYTES - 2_000)})
    effect = effect_of(group, large, exists=True)
    assert effect.outcomes == (RowOutcome.FILLED, RowOutcome.TOO_LARGE, RowOutcome.FILLED)
    assert effect.fields.keys() == {"email", "company", "first_name", "display_name"}


def test_display_name_defaults_to_first_and_last_name() -> None:
    assert (
        fields_of(parse({"firstName": "Zoé", "lastName": "M"}, CustomerBody))["display_name"]
        == "Zoé M"
    )
    assert (
        fields_of(parse({"lastName": "M", "displayName": "Z"}, CustomerBody))["display_name"] == "Z"
    )
    assert "display_name" not in fields_of(parse({"email": "a@b.test"}, CustomerBody))
