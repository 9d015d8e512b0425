"""Tests of the spellings of e-mail addresses and of the pair."""

import pytest

from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.merge import group_rows
from chalicelib.domain.customers.pair import email_spellings, normalize_email, pair_of
from chalicelib.domain.parsing import parse

A_LABEL = "zoe@xn--mnchen-3ya.de"


@pytest.mark.parametrize(
    "email", ["zoe@münchen.de", "Zoe@MÜNCHEN.de", "zoe@mu\u0308nchen.de", "ZOE@XN--MNCHEN-3YA.DE"]
)
def test_spellings_of_domain_are_one_mailbox(email: str) -> None:
    assert normalize_email(email) == A_LABEL
    assert {A_LABEL, "zoe@münchen.de", email.lower()} == set(email_spellings(email))
    assert pair_of(email, None) == pair_of(A_LABEL, None)


def test_domain_uses_nontransitional_mapping() -> None:
    assert normalize_email("zoe@straße.de") == "zoe@xn--strae-oqa.de"
    assert normalize_email("zoe@strasse.de") == "zoe@strasse.de"


@pytest.mark.parametrize("email", ["zoe@example.com", "zoé@example.com", "", "zoe"])
def test_address_with_ascii_domain_has_one_spelling(email: str) -> None:
    assert email_spellings(email.upper()) == (email,)


@pytest.mark.parametrize("email", ["zoe@xn--zz.com", "zoe@a\u0300\u200d.com", "zoe@-ü.com"])
def test_invalid_international_domain_stays_in_lower_case(email: str) -> None:
    assert email_spellings(email.upper()) == (email,)


def test_group_of_rows_contains_digests_of_all_spellings() -> None:
    bodies = [parse({"email": email}, CustomerBody) for email in ("zoe@münchen.de", A_LABEL)]
    (group,) = group_rows(enumerate(bodies))
    pair = pair_of(A_LABEL, None)
    assert pair
    assert set(group.digests) == set(pair.digests)
    assert len(group.digests) == 2
