"""Test JSON objects, fields that responses omit, and the texts of validation errors."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.parsing import parse
from chalicelib.domain.schema import Input, JsonObject, OmittedWhenNone, Resource


class Record(Resource):
    """A record with a field that responses omit and a field that can be null."""

    omitted: Annotated[int | None, OmittedWhenNone] = None
    nullable: int | None = None


class Definition(Input):
    """A definition with a JSON object."""

    metadata: JsonObject


def test_schema_of_omitted_field_does_not_allow_null() -> None:
    properties = Record.model_json_schema()["properties"]
    assert properties["omitted"]["type"] == "integer"
    assert {"type": "null"} in properties["nullable"]["anyOf"]


def test_json_object_is_stored_unchanged() -> None:
    metadata = {" a ": [None, True, -1, 1.5, " é\x00", {"": {}}]}
    assert parse({"metadata": metadata}, Definition).metadata == metadata


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ([], "wrong_type"),
        ({"a": float("nan")}, "wrong_type"),
        ({"a": [float("-inf")]}, "wrong_type"),
        ({"a": {1, 2}}, "wrong_type"),
        ({"a": "\ud800"}, "not_unicode"),
        ({"\udfff": 1}, "not_unicode"),
    ],
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
