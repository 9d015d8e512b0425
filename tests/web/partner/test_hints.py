"""Tests of hints in errors: the field or the parameter that the client may mean."""

from typing import Any
from unittest.mock import patch

import pytest

from chalicelib.domain import suggestions
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import new_id
from tests.web.partner_client import Partner, Response
from tests.web.public.respondent import PublicClient


def details(response: Response) -> list[str]:
    assert response.status == 400
    return [error["detail"] for error in response.json["errors"]]


@pytest.mark.parametrize(
    ("path", "body", "near"),
    [
        ("/partners/customer", {"firstname": "Ana"}, "firstName"),
        ("/partners/customer/list", {"limits": 5}, "limit"),
        ("/partners/customer/batch", {"batch": [{"emial": "a@example.com"}]}, "email"),
        ("/partners/purchase", {"customer": {"phone_number": "1"}}, "phoneNumber"),
        ("/partners/feedback/list", {"form_ids": []}, "formIds"),
    ],
)
def test_unknown_field_suggests_similar_field(
    partner: Partner, path: str, body: Any, near: str
) -> None:
    assert f"Unknown field. Did you mean {near}?" in details(partner.post(path, body))


def test_unknown_field_without_similar_field_has_no_suggestion(partner: Partner) -> None:
    assert details(partner.post("/partners/customer/list", {"zzz": 1})) == ["Unknown field."]


def test_unknown_part_of_submission_suggests_similar_part() -> None:
    response = PublicClient().submit_fields(
        "/public/contact-form/submit", new_id(), [], None, stroe=new_id()
    )
    assert any("Did you mean store?" in detail for detail in details(response))


def test_at_most_20_short_names_are_compared(partner: Partner) -> None:
    compared = []

    def close(name: str, *_: Any) -> list[str]:
        compared.append(name)
        return []

    names = [f"{'x' * 49}{n}" for n in range(10)] + [f"n{n}" for n in range(25)]
    with patch.object(suggestions, "get_close_matches", close):
        assert len(details(partner.post("/partners/customer", dict.fromkeys(names, 1)))) == 35
    assert compared == names[:20]
    with patch.object(suggestions, "get_close_matches", close):
        partner.post("/partners/customer", {"y" * 51: 1})
    assert len(compared) == 20


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("?ID=1", "ID"),
        ("?purchase=1&x=2", "purchase, x"),
        ("?a.nps=1&l.table=12&b=2", "b"),
        (f"?{'n' * 60}=1", "n" * 50),
        ("?a=1&b=2&c=3&d=4", "a, b, c"),
    ],
)
def test_unknown_parameter_is_named_if_one_is_missing(
    partner: Partner, query: str, named: str
) -> None:
    for response in (
        partner.get(f"/partners/purchase{query}"),
        PublicClient().get(f"/public/contact-form{query}"),
    ):
        assert details(response) == [f"Required. Unknown: {named}."]


def test_unknown_parameter_is_ignored_if_none_is_missing(partner: Partner) -> None:
    assert partner.get(f"/partners/purchase?id={new_id()}&x=1").status == 404
    assert details(partner.get("/partners/purchase")) == ["Required."]
    assert details(partner.get("/partners/purchase?id=1&x=1")) == [
        "Must be a UUID in the form 8-4-4-4-12."
    ]


def test_error_of_unknown_source_lists_all_sources(partner: Partner) -> None:
    response = partner.post("/partners/purchase/find", {"source": "Shop", "externalId": "1"})
    (detail,) = details(response)
    assert all(f"'{source.value}'" in detail for source in DataSource)
