"""Tests of the words of pages in all languages: plurals, numbers and default language."""

import pytest

from chalicelib.domain.errors import (
    FeedbackError,
    InputTooLarge,
    InvalidInput,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from chalicelib.domain.feedback.answers import MAX_VALUE
from chalicelib.domain.forms.access import FormDisabled, FormNotOpen, TrackerRequired, TrackerUsed
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.language import LANGUAGE_CODES, Language
from chalicelib.web.pages.words import catalogue_languages, page_words


def test_words_exist_in_at_least_24_languages() -> None:
    assert len(catalogue_languages()) >= 24


def test_words_of_each_catalogue_differ_from_english() -> None:
    english = page_words(Language("en"))
    for language in catalogue_languages():
        assert page_words(language).required_note != english.required_note, language


def test_failures_of_pages_are_codes_of_domain_errors() -> None:
    errors = (
        FeedbackError,
        FormDisabled,
        FormNotOpen,
        InputTooLarge,
        InvalidInput,
        NotFound,
        TooManyRequests,
        TrackerRequired,
        TrackerUsed,
        Unavailable,
    )
    assert page_words(Language("en")).failures.keys() == {error.code for error in errors}


def test_language_without_catalogue_uses_english() -> None:
    without = next(Language(code) for code in LANGUAGE_CODES if code not in catalogue_languages())
    assert page_words(without).send == "Send"


def test_chinese_variants_have_their_own_words() -> None:
    assert page_words(Language("zh")).send == "提交"
    assert page_words(Language("zh-TW")).send == "送出"


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["1 star", "2 stars", "5 stars"]),
        ("fr", ["1 étoile", "2 étoiles", "5 étoiles"]),
        ("pl", ["1 gwiazdka", "2 gwiazdki", "5 gwiazdek"]),
        ("ru", ["1 звезда", "2 звезды", "5 звёзд"]),
        ("ar", ["نجمة واحدة", "نجمتان", "5 نجوم"]),
        ("ja", ["星1個", "星2個", "星5個"]),
    ],
)
def test_plural_follows_rule_of_language(language: str, expected: list[str]) -> None:
    words = page_words(Language(language))
    assert [words.stars(number) for number in (1, 2, 5)] == expected


@pytest.mark.parametrize("number", [0, 1, 2, 3, 11, 20, 21, 100])
def test_every_plural_form_can_be_formatted(number: int) -> None:
    for language in catalogue_languages():
        words = page_words(language)
        for text in (words.at_least, words.at_most, words.revealed, words.stars):
            assert "%" not in text(number)


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", "10,000"), ("de", "10.000"), ("fr", "10\u202f000"), ("cy", "10,000")],
)
def test_number_has_separators_of_language(language: str, expected: str) -> None:
    assert expected in page_words(Language(language)).errors["too_long"]


def test_error_of_too_long_answer_contains_limit_in_every_language() -> None:
    for language in catalogue_languages():
        text = page_words(language).errors["too_long"]
        assert "".join(filter(str.isdigit, text)) == str(MAX_VALUE), language


def test_every_answer_format_has_its_own_message() -> None:
    codes = {each.rules.format.error_code for each in FieldType if each.rules.format}
    assert codes
    assert codes - page_words(Language("en")).errors.keys() == set()
