"""Tests of the rows that ``feedback list`` prints."""

from admin.display.feedback import comment_of
from tests.domain.feedback.factories import answer, build_feedback


def test_comment_is_long_text_and_not_short_text() -> None:
    name = answer("name", "Zoé Durand", kind="TEXT")
    comment = answer("why", "Slow\nservice", kind="LONG_TEXT")
    assert comment_of(build_feedback(name, comment)) == "Slow service"
    assert comment_of(build_feedback(name)) == ""


def test_comment_is_shortened_to_120_characters() -> None:
    for length, expected in ((120, "x" * 120), (121, "x" * 119 + "…")):
        record = build_feedback(answer("why", "x" * length, kind="LONG_TEXT"))
        assert comment_of(record) == expected
