"""Tests of phone numbers and of the size of text messages."""

import pytest

from chalicelib.domain.language import Language
from chalicelib.domain.solicitation.links import short_link
from chalicelib.domain.solicitation.phone_number import e164, notations
from chalicelib.domain.solicitation.sms_segments import TextSize, size_of
from chalicelib.domain.solicitation.words import message_words
from chalicelib.web.pages.words import catalogue_languages
from tests.domain.solicitation.factories import TRACKER

OTHER_SCRIPTS = set("ar bg el fa he ja ko ru uk zh zh-TW".split())
"""The languages with a script that GSM-7 does not have."""
SHORT = "https://example.com/s/".ljust(30, "x")
LONG = short_link("https://abcdefghij.execute-api.eu-west-1.amazonaws.com/prod", TRACKER)


@pytest.mark.parametrize(
    ("number", "region", "expected"),
    [
        ("06 12 34 56 78", "FR", "+33612345678"),
        ("+33 6 12 34 56 78", None, "+33612345678"),
        ("0033612345678", "FR", "+33612345678"),
        ("(0612) 345-678", "FR", "+33612345678"),
        ("06 12 34 56 78", None, None),
        ("06 12 34 56 78", "XX", None),
        ("+33 6 12", None, None),
        ("+1 555 0100", None, None),
        ("hello", "FR", None),
        ("", "FR", None),
    ],
)
def test_phone_number_is_normalized_or_invalid(
    number: str, region: str | None, expected: str | None
) -> None:
    assert e164(number, region) == expected


@pytest.mark.parametrize("number", ["06 12 34 56 78", "+33612345678"])
def test_phone_number_of_region_has_national_and_international_notation(number: str) -> None:
    assert notations(number, "FR") == {number, "+33612345678", "06 12 34 56 78"}


def test_invalid_or_foreign_phone_number_has_fewer_notations() -> None:
    assert notations("+33 612345678", "DE") == {"+33 612345678", "+33612345678"}
    assert notations("12", "FR") == {"12"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", TextSize("GSM-7", 1)),
        ("a" * 160, TextSize("GSM-7", 1)),
        ("a" * 161, TextSize("GSM-7", 2)),
        ("a" * 306, TextSize("GSM-7", 2)),
        ("a" * 307, TextSize("GSM-7", 3)),
        ("€" * 80, TextSize("GSM-7", 1)),
        ("€" * 81, TextSize("GSM-7", 2)),
        # The first segment ends before the euro sign, which does not fit into its last septet.
        ("a" * 152 + "€" + "a" * 152, TextSize("GSM-7", 3)),
        ("ç" + "a" * 69, TextSize("UCS-2", 1, ("ç",))),
        ("ç" + "a" * 70, TextSize("UCS-2", 2, ("ç",))),
        ("’" + "a" * 133, TextSize("UCS-2", 2, ("’",))),
        ("’" + "a" * 134, TextSize("UCS-2", 3, ("’",))),
        ("😀" * 35, TextSize("UCS-2", 1, ("😀",))),
        ("😀" * 36, TextSize("UCS-2", 2, ("😀",))),
        # An emoji takes two code units and is never split between segments.
        ("😀" * 67, TextSize("UCS-2", 3, ("😀",))),
        ("ça, ça’", TextSize("UCS-2", 1, ("ç", "’"))),
    ],
)
def test_size_of_text_message_depends_on_its_characters(text: str, expected: TextSize) -> None:
    assert size_of(text) == expected


@pytest.mark.parametrize("language", [Language("en"), *sorted(catalogue_languages())])
def test_default_text_message_has_few_segments(language: Language) -> None:
    words = message_words(language)
    long, reminder, short = (
        size_of(text % {"place": "Maison Lumen", "link": link})
        for text, link in ((words.sms, LONG), (words.sms_reminder, LONG), (words.sms, SHORT))
    )
    if language in OTHER_SCRIPTS:
        assert (long.segments, reminder.segments, short.segments) == (2, 2, 1)
    else:
        assert long == reminder == short == TextSize("GSM-7", 1)
