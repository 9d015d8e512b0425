"""Tests of dates in words."""

from datetime import date

import pytest

from chalicelib.domain.language import Language, format_date


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "5 March 2026"),
        ("fr", "5 mars 2026"),
        ("de", "5. März 2026"),
        ("ar", "5 مارس 2026"),
        ("ja", "2026年3月5日"),
        ("zh-TW", "2026年3月5日"),
        ("cy", "5 March 2026"),
    ],
)
def test_date_is_in_words_of_language(language: str, expected: str) -> None:
    assert format_date(date(2026, 3, 5), Language(language)) == expected
