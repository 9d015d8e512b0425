"""Test the JSON schema of fields that responses omit."""

from typing import Annotated

from chalicelib.domain.schema import OmittedWhenNone, Resource


class Record(Resource):
    """A record with a field that responses omit and a field that can be null."""

    omitted: Annotated[int | None, OmittedWhenNone] = None
    nullable: int | None = None


def test_schema_of_omitted_field_does_not_allow_null() -> None:
    properties = Record.model_json_schema()["properties"]
    assert properties["omitted"]["type"] == "integer"
    assert {"type": "null"} in properties["nullable"]["anyOf"]
