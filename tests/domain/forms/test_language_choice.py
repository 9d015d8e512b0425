"""Tests of the selection of the language of a public view."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.forms.language_choice import accepted_ranges, choose_language
from chalicelib.domain.language import Language

OWN = Language("en")


def chosen(*translations: str, requested: str | None = None, accept: str | None = None) -> str:
    languages = [Language(code) for code in translations]
    return str(choose_language(OWN, languages, requested_range=requested, accept_language=accept))


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("fr", "fr"),
        ("FR", "fr"),
        ("fr-CA", "fr"),
        ("fr_CA", "fr"),
        ("fr-CA,en;q=0.9", "fr"),
        ("en,fr;q=0.9", "en"),
        ("en;q=0.8,fr;q=0.9", "fr"),
        ("en-GB;q=0.8, fr;q=0.8", "en"),
        ("de,fr;q=0.5", "fr"),
        ("de", "en"),
        ("en;q=0.9,fr;q=1.", "fr"),
        ("en;q=0.9,fr;q=1.000", "fr"),
        ("fr;q=1.001,ar;q=0.1", "ar"),
        ("fr;q=0.001", "fr"),
        ("fr;q=0.", "en"),
        ("fr;q=0", "en"),
        ("fr;q=0,ar;q=0.1", "ar"),
        ("*", "en"),
        ("de,*;q=0.5,fr;q=0.1", "en"),
        ("zh-TW", "zh-TW"),
        ("zh-Hant-TW", "zh-TW"),
        ("zh-HK", "zh-TW"),
        ("zh-CN", "zh"),
        ("nb-NO", "no"),
        ("iw", "he"),
        ("ar-EG", "ar"),
        ("fr;q=high,ar", "ar"),
        (";;;,,=,fr;q=0.5", "fr"),
        ("fr;q=nan", "en"),
        ("fr;level=1", "en"),
    ],
)
def test_available_language_with_highest_weight_is_chosen(
    accept: str | None, language: str
) -> None:
    assert chosen("fr", "ar", "he", "no", "zh", "zh-TW", accept=accept) == language


def test_language_with_unavailable_region_selects_language_without_region() -> None:
    assert chosen("zh", accept="zh-TW") == "zh"
    assert chosen("zh", "zh-TW", accept="zh-TW") == "zh-TW"


def test_language_parameter_overrides_accept_language_header() -> None:
    assert chosen("fr", "de", requested="de", accept="fr") == "de"
    assert chosen("fr", "de", requested="de-AT", accept="fr") == "de"
    assert chosen("fr", requested="es", accept="fr") == "en"


@given(st.text(alphabet="frenzhTW-_,;q=0.19* ", max_size=60) | st.text(max_size=60))
def test_arbitrary_language_request_selects_available_language(header: str) -> None:
    assert chosen("fr", "zh-TW", accept=header) in {"en", "fr", "zh-TW"}
    assert chosen("fr", "zh-TW", requested=header) in {"en", "fr", "zh-TW"}


def test_language_ranges_are_sorted_by_weight_then_position() -> None:
    assert accepted_ranges("a;q=0.1, b, c;q=0.5, d") == ["b", "d", "c", "a"]
