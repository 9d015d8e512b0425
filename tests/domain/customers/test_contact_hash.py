"""Test the hashes that identify contacts."""

from collections.abc import Callable

import pytest

from chalicelib.domain.customers.contact_hash import email_hash, pair_hash, phone_hash
from chalicelib.domain.ids import new_id

ACCOUNT = new_id()


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
