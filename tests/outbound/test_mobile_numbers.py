"""Test that the random phone numbers of the end-to-end tests are always valid."""

import pytest
from phonenumbers import PhoneNumberType, is_valid_number, number_type, parse

from tests.e2e.demo_messages import new_mobile_number
from tests.waiting import wait_until


@pytest.mark.parametrize("drawn", [0, 1, 499_999, 999_999, 1_000_000])
def test_random_mobile_number_is_valid(drawn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda size: drawn.to_bytes(size))
    number = parse(new_mobile_number())
    assert is_valid_number(number)
    assert number_type(number) == PhoneNumberType.MOBILE


def test_wait_fails_immediately_if_opposite_outcome_is_recorded() -> None:
    with pytest.raises(AssertionError, match="SKIPPED"):
        wait_until(lambda: False, opposite=lambda: ["SKIPPED"])
