"""Tests of the spellings of e-mail addresses, of pairs, and of the hashes of contacts."""

from collections.abc import Callable

import pytest

from chalicelib.domain.customers.addresses import (
    email_hash,
    normalize_email,
    pair_hash,
    pair_of,
    phone_hash,
)
from chalicelib.domain.ids import new_id

ACCOUNT = new_id()
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


@pytest.mark.parametrize("hash_of", [email_hash, phone_hash])
def test_missing_contact_has_no_hash(hash_of: Callable[[str, str | None], str | None]) -> None:
    assert hash_of(ACCOUNT, None) is None
    assert hash_of(ACCOUNT, "") is None


@pytest.mark.parametrize("number", ["0033 6-12.34.56.78", "+33 (0)6 12 34 56 78", "+33612345678"])
def test_hash_of_phone_number_ignores_separators(number: str) -> None:
    expected = phone_hash(ACCOUNT, "+33612345678")
    assert expected
    assert phone_hash(ACCOUNT, number) == expected


def test_hash_of_email_ignores_case() -> None:
    assert email_hash(ACCOUNT, "Zoe@Example.com") == email_hash(ACCOUNT, "zoe@example.com")


def test_contacts_have_different_hashes() -> None:
    hashes = [
        hash_of(account, contact)
        for account in (ACCOUNT, new_id())
        for hash_of in (email_hash, phone_hash, pair_hash)
        for contact in ("+33612345678", "+33612345679")
    ]
    assert None not in hashes
    assert len(set(hashes)) == len(hashes)


def test_hash_of_national_number_differs_from_hash_of_international_number() -> None:
    assert phone_hash(ACCOUNT, "(0)612345678") == phone_hash(ACCOUNT, "0612345678")
    assert phone_hash(ACCOUNT, "0612345678") != phone_hash(ACCOUNT, "+33612345678")
