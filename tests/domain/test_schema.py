"""Test the types of fields, their JSON schemas and the texts of validation errors."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.parsing import parse
from chalicelib.domain.schema import (
    MAX_JSON_LEVELS,
    Input,
    InputTimestamp,
    ItemsDescribedAs,
    JsonObject,
    OmittedWhenNone,
    Resource,
    with_offset,
)


class Record(Resource):
    """A record with a field that responses omit and a field that can be null."""

    omitted: Annotated[int | None, OmittedWhenNone] = None
    nullable: int | None = None


class Records(Resource):
    """A list of records that pydantic does not validate."""

    items: Annotated[list[Any], ItemsDescribedAs(Record)]


class Definition(Input):
    """A definition with a JSON object."""

    metadata: JsonObject


def test_schema_of_omitted_field_does_not_allow_null() -> None:
    properties = Record.model_json_schema()["properties"]
    assert properties["omitted"]["type"] == "integer"
    assert {"type": "null"} in properties["nullable"]["anyOf"]


def test_schema_of_list_describes_items_that_are_not_validated() -> None:
    schema = Records.model_json_schema()
    assert schema["properties"]["items"]["items"] == {"$ref": "#/$defs/Record"}
    assert Records(items=[{"nullable": "x"}]).items == [{"nullable": "x"}]


def nested(levels: int) -> Any:
    """Return an object with this number of levels, or a number if there are none."""
    return {"a": nested(levels - 1)} if levels else 1


def test_json_object_is_stored_unchanged() -> None:
    metadata = {" a ": [None, True, -1, 1.5, " é\x00", {"": {}}, -(10**4_299)]}
    assert parse({"metadata": metadata}, Definition).metadata == metadata
    assert parse({"metadata": nested(MAX_JSON_LEVELS)}, Definition).metadata


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ([], "wrong_type"),
        ({"a": float("nan")}, "wrong_type"),
        ({"a": [float("-inf")]}, "wrong_type"),
        ({"a": {1, 2}}, "wrong_type"),
        ({"a": "\ud800"}, "not_unicode"),
        ({"\udfff": 1}, "not_unicode"),
        (nested(MAX_JSON_LEVELS + 1), "wrong_type"),
        pytest.param({"a": -(10**4_300)}, "wrong_type", id="4,301 digits"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_value_that_json_does_not_support_is_rejected(metadata: Any, code: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse({"metadata": metadata}, Definition)
    assert [(error.pointer, error.code) for error in raised.value.errors] == [("/metadata", code)]


@pytest.mark.parametrize(("model", "field"), [(Record, "nullable"), (Definition, "metadata")])
def test_validation_error_does_not_contain_input(model: type[BaseModel], field: str) -> None:
    with pytest.raises(ValidationError) as raised:
        model.model_validate({field: "zoe@example.com"})
    assert "zoe" not in str(raised.value)


class Event(Input):
    """A definition with a timestamp."""

    at: InputTimestamp


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T10:00:00Z",
        "2026-11-20t10:00:00z",
        "2026-11-20T11:00:00.000+01:00",
        "2026-11-20t05:30:00-04:30",
    ],
)
def test_timestamp_has_any_offset_and_any_case(text: str) -> None:
    assert parse({"at": text}, Event).at == datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            "2026-11-20T10:00:00",
            "Must have an offset, such as 2026-11-20T10:00:00+01:00, or 2026-11-20T10:00:00Z"
            " for UTC.",
        ),
        (
            "2026-11-20",
            "Must have an offset, such as 2026-11-20T00:00:00+01:00, or 2026-11-20T00:00:00Z"
            " for UTC.",
        ),
        ("yesterday", "Must be an ISO 8601 date-time, such as 2026-11-20T10:00:00Z."),
        ("0001-01-01T00:00:00+01:00", "Must be an ISO 8601 date-time, such as"),
        (7, "Must be an ISO 8601 date-time, such as 2026-11-20T10:00:00Z."),
    ],
)
def test_invalid_timestamp_is_rejected_with_valid_examples(text: Any, detail: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse({"at": text}, Event)
    (error,) = raised.value.errors
    assert (error.pointer, error.code) == ("/at", "invalid_timestamp")
    assert error.detail.startswith(detail)
    for example in re.findall(r"20\S+[0-9Z]", error.detail):
        assert parse({"at": example}, Event)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20T10:00:00", "2026-11-20T10:00:00+01:00"),
        ("2026-07-20T10:00:00", "2026-07-20T10:00:00+02:00"),
        ("2026-10-25T02:30:00", "2026-10-25T02:30:00+02:00"),
        ("2026-11-20", "2026-11-20T00:00:00+01:00"),
        ("2026-11-20t10:00:00z", "2026-11-20t10:00:00z"),
        ("2026-11-20T10:00:00-05:00", "2026-11-20T10:00:00-05:00"),
        ("yesterday", "yesterday"),
        (None, None),
        (7, 7),
    ],
)
def test_time_without_offset_gets_offset_of_time_zone(text: Any, expected: Any) -> None:
    assert with_offset(text, ZoneInfo("Europe/Paris")) == expected
