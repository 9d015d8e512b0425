"""Tests of the comparison operators: each has at least one true and one false result."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.comparison import Combination, Comparator, as_number, evaluate, parse_list

texts = st.text(max_size=8) | st.decimals(allow_nan=False, allow_infinity=False).map(str)


@pytest.mark.parametrize(
    ("comparator", "given_values", "expected", "result"),
    [
        ("$eq", ["a"], "a", True),
        ("$eq", ["a"], "A", False),
        ("$eq", ["a", "b"], "b", True),
        ("$eq", [], "a", False),
        ("$eq", [], "", False),
        ("$eq", ["5"], "5.0", True),
        ("$eq", ["05"], "5", True),
        ("$eq", ["5a"], "5", False),
        ("$ne", ["a"], "a", False),
        ("$ne", ["a"], "b", True),
        ("$ne", [], "a", True),
        ("$ne", ["a", "b"], "b", False),
        ("$in", ["b"], "a, b", True),
        ("$in", ["b"], '["a", "b"]', True),
        ("$in", ["a, b"], '["a, b"]', True),
        ("$in", ["[x"], "[x,y", True),
        ("$in", ["c"], "a, b", False),
        ("$in", ["1"], "1.0,2", True),
        ("$in", [], "a", False),
        ("$nin", ["c"], "a, b", True),
        ("$nin", ["b"], "a, b", False),
        ("$nin", [], "a", True),
        ("$gt", ["10"], "9", True),
        ("$gt", ["9"], "10", False),
        ("$gt", ["9"], "9", False),
        ("$gt", ["b"], "a", True),
        ("$gt", [], "0", False),
        ("$gte", ["9"], "9", True),
        ("$gte", ["8.9"], "9", False),
        ("$gte", ["-1"], "0", False),
        ("$lt", ["9"], "10", True),
        ("$lt", ["10"], "9", False),
        ("$lt", [], "9", False),
        ("$lt", ["2026-01-31"], "2026-02-01", True),
        ("$lte", ["9"], "9", True),
        ("$lte", ["9.1"], "9", False),
        ("$contains", ["a long wait"], "long", True),
        ("$contains", ["a long wait"], "short", False),
        ("$contains", [], "long", False),
        ("$exists", ["x"], "true", True),
        ("$exists", [], "true", False),
        ("$exists", ["x"], "false", False),
        ("$exists", [], "false", True),
    ],
)
def test_comparator_returns_expected_result(
    comparator: str, given_values: list[str], expected: str, result: bool
) -> None:
    assert evaluate(Comparator(comparator), given_values, expected) is result


@pytest.mark.parametrize(
    ("comparator", "opposite"), [("$eq", "$ne"), ("$in", "$nin"), ("$gt", "$lte"), ("$gte", "$lt")]
)
@given(texts, texts)
def test_opposite_comparators_return_opposite_results_for_single_value(
    comparator: str, opposite: str, value: str, expected: str
) -> None:
    assert evaluate(Comparator(comparator), [value], expected) != evaluate(
        Comparator(opposite), [value], expected
    )


@given(st.integers(), st.integers())
def test_numbers_are_compared_numerically(left: int, right: int) -> None:
    assert evaluate(Comparator.GT, [str(left)], str(right)) == (left > right)
    assert evaluate(Comparator.EQ, [f"{left}.0"], str(right)) == (left == right)


@given(st.lists(st.sampled_from(Comparator)), texts, st.lists(texts, max_size=3))
def test_every_comparator_accepts_any_text(
    comparators: list[Comparator], expected: str, values: list[str]
) -> None:
    assert all(
        evaluate(comparator, values, expected) in (True, False) for comparator in comparators
    )


@pytest.mark.parametrize("text", ["", "x", "1e5", "NaN", "Infinity", " 1", "1_0", "١", "1.", ".5"])
def test_text_in_unsupported_number_format_is_not_parsed_as_number(text: str) -> None:
    assert as_number(text) is None


@pytest.mark.parametrize("text", ["[1, 2]", "[" * 100_000, '["a"'])
def test_text_that_is_not_json_array_of_strings_is_split_at_commas(text: str) -> None:
    assert parse_list(text) == [item.strip() for item in text.split(",")]


def test_conjunction_needs_all_results_and_disjunction_needs_one_result() -> None:
    assert Combination.AND.of([True, True])
    assert not Combination.AND.of([True, False])
    assert Combination.OR.of([False, True])
    assert not Combination.OR.of([False, False])


def test_comparison_with_long_list_takes_less_than_a_second() -> None:
    values = [f"{number}.5" for number in range(1_000)]
    items = ",".join(str(number) for number in range(5_000))
    start = time.process_time()
    assert not evaluate(Comparator.IN, values, items)
    assert evaluate(Comparator.IN, [*values, "4999.0"], items)
    assert time.process_time() - start < 1
