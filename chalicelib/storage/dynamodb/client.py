"""The process's one DynamoDB client, set up to cost little.

Most of what a request costs beyond signing it is left out: botocore walks every attribute of every
answer through its description of the service, though the wire form is already the parsed form; and
for every request it writes a user agent of a dozen parts and looks for the endpoint anew.
"""

from base64 import b64decode
from typing import Any, Final

from botocore.config import Config
from botocore.parsers import JSONParser, ResponseParser, ResponseParserFactory
from botocore.session import get_session
from pydantic_core import from_json

from chalicelib.aws_calls import AGENT, count_calls_of, keep_one_endpoint
from chalicelib.settings import settings

ATTEMPTS: Final = 3
_CONNECT_TIMEOUT_S: Final = 1.0
_READ_TIMEOUT_S: Final = 4.0


class DynamoDbParser(JSONParser):
    """Botocore's parser, except that it takes attribute values as they come.

    On the wire and parsed they differ only in binary values, which the wire holds in Base64.
    """

    def _handle_map(self, shape: Any, value: dict[str, Any]) -> Any:
        if shape.value.name != "AttributeValue":
            return super()._handle_map(shape, value)  # type: ignore[misc]
        for typed in value.values():
            _decode(typed)
        return value

    def _parse_body_as_json(self, body_contents: bytes) -> Any:
        try:
            return from_json(body_contents) if body_contents else {}
        except ValueError:
            return super()._parse_body_as_json(body_contents)  # type: ignore[misc]


def dynamodb_client() -> Any:
    """A new client for this process's region, whose requests are counted."""
    session = get_session()
    session.register_component("response_parser_factory", _ParserFactory())
    client = session.create_client(
        "dynamodb",
        region_name=settings().region,
        config=Config(
            parameter_validation=False,
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_READ_TIMEOUT_S,
            max_pool_connections=10,
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            user_agent=AGENT,
        ),
    )
    keep_one_endpoint(client)
    count_calls_of(client)
    return client


class _ParserFactory(ResponseParserFactory):
    def create_parser(self, protocol_name: str) -> ResponseParser:
        if protocol_name == "json":
            return DynamoDbParser(**self._defaults)  # type: ignore[attr-defined]
        return super().create_parser(protocol_name)


def _decode(typed: dict[str, Any]) -> None:
    for kind, value in typed.items():
        if kind == "B":
            typed[kind] = b64decode(value)
        elif kind == "BS":
            typed[kind] = [b64decode(member) for member in value]
        elif kind == "M":
            for member in value.values():
                _decode(member)
        elif kind == "L":
            for member in value:
                _decode(member)
