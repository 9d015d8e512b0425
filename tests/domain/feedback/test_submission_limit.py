"""Test the time windows in which submissions from one source are counted."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.feedback.submission_limit import SubmissionWindow

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def window(
    at: datetime = START, address: str = "192.0.2.1", form_id: str = "f", window_s: int = 60
) -> SubmissionWindow:
    return SubmissionWindow.at(at, window_s, form_id, address)


def test_window_ends_at_next_multiple_of_its_length() -> None:
    end = START + timedelta(minutes=1)
    assert window(START).ends_at == window(end - SECOND).ends_at == end.timestamp()
    assert window(START).key == window(end - SECOND).key
    assert window(end).ends_at == end.timestamp() + 60
    assert window(end).key != window(START).key


@pytest.mark.parametrize(("elapsed_s", "left_s"), [(0, 60), (1, 59), (59, 1), (60, 1), (600, 1)])
def test_at_least_one_second_is_left(elapsed_s: int, left_s: int) -> None:
    assert window().seconds_left(START + elapsed_s * SECOND) == left_s


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("unknown", "unknown", True),
        ("unknown", "192.0.2.1", False),
    ],
)
def test_addresses_of_one_subscriber_are_counted_together(
    first: str, second: str, is_same: bool
) -> None:
    assert (window(address=first).key == window(address=second).key) is is_same


def test_forms_and_window_lengths_are_counted_separately() -> None:
    assert window(form_id="f").key != window(form_id="g").key
    assert window(window_s=60).key != window(window_s=30).key
