"""Tests of the spellings of e-mail addresses and of the pair."""

import pytest

from chalicelib.domain.customers.pair import normalize_email, pair_of

A_LABEL = "zoe@xn--mnchen-3ya.de"


@pytest.mark.parametrize(
    "email", ["zoe@münchen.de", "Zoe@MÜNCHEN.de", "zoe@mu\u0308nchen.de", "ZOE@XN--MNCHEN-3YA.DE"]
)
def test_spellings_of_domain_are_one_mailbox(email: str) -> None:
    assert normalize_email(email) == A_LABEL
    assert pair_of(email, None) == pair_of(A_LABEL, None)


def test_domain_uses_nontransitional_mapping() -> None:
    assert normalize_email("zoe@straße.de") == "zoe@xn--strae-oqa.de"
    assert normalize_email("zoe@strasse.de") == "zoe@strasse.de"


@pytest.mark.parametrize("email", ["zoe@example.com", "zoé@example.com", "", "zoe"])
def test_address_with_ascii_domain_is_compared_in_lower_case(email: str) -> None:
    assert normalize_email(email.upper()) == email


@pytest.mark.parametrize("email", ["zoe@xn--zz.com", "zoe@a\u0300\u200d.com", "zoe@-ü.com"])
def test_invalid_international_domain_stays_in_lower_case(email: str) -> None:
    assert normalize_email(email.upper()) == email
