"""Tests of parsing definitions in two stages: schema validation, then rule validation."""

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field

from admin.domain.definitions import (
    MAX_LEVELS,
    NormalizedInput,
    parse_and_validate,
    parse_definition,
)
from admin.domain.input_errors import not_allowed
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.schema import Input

Size = Annotated[int, Field(ge=1, le=100)]


class Box(Input):
    name: str = Field(default="Box", min_length=1, max_length=5)
    size: Size
    items: list[Size] = Field(default=[], min_length=1)


class NormalizedBox(NormalizedInput):
    notes: dict[str, Any]


def rule_errors(box: Box) -> Iterator[InputError]:
    for position, size in enumerate(box.items):
        if size > box.size:
            yield not_allowed("Must not be larger than the box.", "items", position)


def errors_of(definition: Any) -> list[InputError]:
    with pytest.raises(InvalidInput) as caught:
        parse_and_validate(definition, Box, rule_errors)
    return caught.value.errors


def test_valid_definition_is_parsed() -> None:
    assert parse_and_validate({"size": 2, "items": [1, 2]}, Box, rule_errors).items == [1, 2]


def test_schema_errors_are_reported_without_rule_errors() -> None:
    errors = errors_of({"size": 2, "items": [3, 0, "1"], "name": "Bigger", "colour": "red"})
    assert errors == [
        InputError("/name", "too_long", "Must be at most 5 characters."),
        InputError("/items/1", "out_of_range", "Must be at least 1."),
        InputError("/items/2", "wrong_type", "Must be an integer."),
        InputError("/colour", "unknown_key", "Unknown field."),
    ]


def test_definition_with_valid_schema_reports_all_rule_errors() -> None:
    assert [error.pointer for error in errors_of({"size": 2, "items": [3, 1, 4]})] == [
        "/items/0",
        "/items/2",
    ]


@pytest.mark.parametrize("item", [0, 3])
def test_validation_stops_after_1000_errors(item: int) -> None:
    errors = errors_of({"size": 2, "items": [item] * 1001})
    assert [error.pointer for error in errors] == [f"/items/{n}" for n in range(1000)]


@pytest.mark.parametrize(
    ("definition", "error"),
    [
        ({}, InputError("/size", "required", "Required.")),
        ({"size": 101}, InputError("/size", "out_of_range", "Must be at most 100.")),
        ({"size": 2, "name": " "}, InputError("/name", "required", "Must not be empty.")),
        ({"size": 2, "items": []}, InputError("/items", "too_few", "Must not be empty.")),
        ({"size": 2, "items": {}}, InputError("/items", "wrong_type", "Must be an array.")),
        ([], InputError("", "wrong_type", "Must be an object.")),
    ],
)
def test_schema_error_message_states_allowed_values(definition: Any, error: InputError) -> None:
    assert errors_of(definition) == [error]


def test_parsing_trims_strings_and_removes_nulls_at_every_depth() -> None:
    definition = {"notes": {"a": [" x ", {"b": None, "c": "\u2003y"}], "d": None}}
    assert parse_definition(definition, NormalizedBox).notes == {"a": ["x", {"c": "y"}]}


def test_definition_with_more_than_200_nested_levels_is_rejected() -> None:
    nested: dict[str, Any] = {}
    for _ in range(MAX_LEVELS - 2):
        nested = {"a": nested}
    assert parse_definition({"notes": nested}, NormalizedBox).notes == nested
    with pytest.raises(InvalidInput) as caught:
        parse_definition({"notes": {"a": nested}}, NormalizedBox)
    assert caught.value.errors == [InputError("", "too_deep", "Nested too deeply.")]
