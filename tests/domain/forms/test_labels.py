"""Tests of the labels in definitions of forms."""

from typing import Any

import pytest

from tests.domain.forms.factories import contact_form_errors, survey_errors

COMBINATION = [("/labels/x", "invalid_combination")]


@pytest.mark.parametrize(
    ("rule", "errors"),
    [
        ({"values": ["spring", "autumn"]}, []),
        ({"maxDigits": 1}, []),
        ({"maxDigits": 6}, []),
        ({"maxDigits": 7}, [("/labels/x/maxDigits", "out_of_range")]),
        ({"maxDigits": -1}, [("/labels/x/maxDigits", "out_of_range")]),
        ({}, COMBINATION),
        ({"maxDigits": 0}, COMBINATION),
        ({"values": []}, COMBINATION),
        ({"values": ["spring"], "maxDigits": 3}, COMBINATION),
        ({"pattern": ".*"}, [("/labels/x/pattern", "unknown_key")]),
        ({"values": ["x" * 100]}, []),
        ({"values": ["x" * 101, ""]}, [
            ("/labels/x/values/0", "out_of_range"), ("/labels/x/values/1", "out_of_range"),
        ]),
        ({"values": ["a", " a"]}, [("/labels/x/values/1", "duplicate")]),
        ({"values": [str(number) for number in range(1000)]}, []),
        ({"values": [str(number) for number in range(1001)]}, [("/labels/x/values", "too_many")]),
    ],
)  # fmt: skip
def test_label_has_values_or_digits(rule: dict[str, Any], errors: list[tuple[str, str]]) -> None:
    assert contact_form_errors(labels={"x": rule}) == errors
    assert survey_errors(labels={"x": rule}) == errors


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [("t", True), ("Table_no-1", True), ("x" * 32, True), ("x" * 33, False), ("1x", False),
     ("l.x", False), ("", False), ("é", False)],
)  # fmt: skip
def test_name_of_label_is_checked(name: str, is_valid: bool) -> None:
    errors = contact_form_errors(labels={name: {"maxDigits": 2}})
    assert errors == ([] if is_valid else [(f"/labels/{name}", "invalid")])


@pytest.mark.parametrize("name", ["rating", "store", "form", "language"])
def test_label_does_not_have_name_of_other_placeholder(name: str) -> None:
    rule = {"maxDigits": 2}
    assert contact_form_errors(labels={name: rule}) == [(f"/labels/{name}", "not_allowed")]
    assert contact_form_errors(labels={name.upper(): rule}) == []


@pytest.mark.parametrize(("count", "errors"), [(10, []), (11, [("/labels", "too_many")])])
def test_form_has_at_most_ten_labels(count: int, errors: list[tuple[str, str]]) -> None:
    labels = {f"x{number}": {"maxDigits": 2} for number in range(count)}
    assert contact_form_errors(labels=labels) == errors
