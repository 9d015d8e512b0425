"""Test the period that a request to list new customers covers."""

from datetime import UTC, datetime, timedelta

from chalicelib.domain.customers.listing import listing_request

NOW = datetime(2026, 11, 20, 10, 0, 0, 123_000, tzinfo=UTC)


def test_listing_request_covers_next_second_and_delay_of_index() -> None:
    assert listing_request("a", NOW).covers_until == NOW + timedelta(seconds=1.5)
