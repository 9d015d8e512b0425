"""The DynamoDB client of the process.

This module overrides parts of botocore to save time. docs/decisions/aws-clients.md lists the
overrides and the measured savings.
"""

from base64 import b64decode
from typing import Any

from botocore.model import MapShape
from botocore.parsers import JSONParser, ResponseParser, ResponseParserFactory
from pydantic_core import from_json

from chalicelib.aws_calls import create_client

Item = dict[str, Any]
"""A row, a value, a request or a response in the form of DynamoDB."""


class DynamoDbParser(JSONParser):
    """A response parser that does not apply botocore's generic parsing to attribute values.

    DynamoDB sends attribute values in the form that botocore returns, such as ``{"S": "text"}``.
    Only binary values must be parsed: they are Base64-encoded in the response.
    """

    def _parse_body_as_json(self, body_contents: bytes) -> object:
        try:
            return from_json(body_contents, cache_strings="keys")
        except ValueError:
            return super()._parse_body_as_json(body_contents)  # type: ignore[misc]

    def _handle_map(self, shape: MapShape, value: Item) -> object:
        if shape.value.name != "AttributeValue":
            return super()._handle_map(shape, value)  # type: ignore[misc]
        for attribute_value in value.values():
            if "S" not in attribute_value:
                _decode_binary(attribute_value)
        return value


def dynamodb_client() -> Any:
    """Create a DynamoDB client for the region of this process."""
    client = create_client("dynamodb")
    client._endpoint._response_parser_factory = _ParserFactory()
    # By default, botocore resolves the endpoint again for each request, with the same result. A
    # client without a ruleset resolver uses the endpoint that was resolved at its creation.
    client._ruleset_resolver = None
    return client


class _ParserFactory(ResponseParserFactory):
    def create_parser(self, protocol_name: str) -> ResponseParser:
        if protocol_name == "json":
            return DynamoDbParser(**self._defaults)  # type: ignore[attr-defined]
        return super().create_parser(protocol_name)


def _decode_binary(attribute_value: Item) -> None:
    for kind, value in attribute_value.items():
        if kind == "B":
            attribute_value[kind] = b64decode(value)
        elif kind == "BS":
            attribute_value[kind] = [b64decode(member) for member in value]
        elif kind == "M":
            for member in value.values():
                _decode_binary(member)
        elif kind == "L":
            for member in value:
                _decode_binary(member)
