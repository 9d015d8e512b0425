"""The shape of every model: camelCase outside, frozen inside, strict on the way in."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from chalicelib.domain.ids import parse_id


class Resource(BaseModel):
    """What the service answers with, or a part of it. Keys it does not know are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,  # errors are logged, and customers' data is not
        defer_build=True,
        json_schema_serialization_defaults_required=True,
    )


class Input(BaseModel):
    """A thing that comes from outside, or a part of one.

    Strict: no key it does not know, no value of another type. Texts are trimmed; an explicit null
    is the same as a key that is not there.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        defer_build=True,
        strict=True,
        str_strip_whitespace=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_what_is_not_given(cls, data: Any) -> Any:
        if not isinstance(data, dict) or all(map(cls._is_given, data.values())):
            return data
        known = {field.alias for field in cls.model_fields.values()}
        return {k: v for k, v in data.items() if k not in known or cls._is_given(v)}

    @classmethod
    def _is_given(cls, value: Any) -> bool:
        return value is not None


WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's white space, which pydantic trims; `str.strip` would take control characters too."""


def _identifier(text: str) -> str:
    identifier = parse_id(text)
    if identifier is None:
        raise PydanticCustomError("invalid_uuid", "This must be a UUID of the form 8-4-4-4-12.")
    return identifier


@cache
def _email_validator() -> ModuleType:
    # Imported on use: only a function that takes e-mail addresses in should pay for it.
    import email_validator

    # The library's documented way to judge by syntax alone: no top-level domain is special.
    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
    return email_validator


def _email(text: str) -> str:
    library = _email_validator()
    try:
        library.validate_email(
            text,
            check_deliverability=False,
            globally_deliverable=False,
            allow_quoted_local=True,
            allow_domain_literal=True,
        )
    except library.EmailNotValidError:
        raise PydanticCustomError("invalid_email", "This must be an e-mail address.") from None
    return text


def _timestamp(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise PydanticCustomError(
            "invalid_timestamp",
            "This must be an ISO 8601 date-time, such as 2026-11-20T10:00:00Z.",
        ) from None


def parse_timestamp(text: str) -> datetime | None:
    """The moment that an ISO 8601 text names, or None. Without a zone it is taken as UTC."""
    try:
        moment: datetime = _timestamp(text)
    except PydanticCustomError:
        return None
    return moment


def format_timestamp(moment: datetime) -> str:
    """UTC, milliseconds, ``Z``: ``2026-11-20T10:00:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def _json_object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise PydanticCustomError("wrong_type", "This must be an object.")
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("not_unicode", "A text in it holds a lone surrogate.") from None
    except (TypeError, ValueError, RecursionError):
        raise PydanticCustomError("wrong_type", "It holds a value that JSON cannot.") from None
    return value


JsonObject = Annotated[
    dict[str, Any], PlainValidator(_json_object), WithJsonSchema({"type": "object"})
]
"""Any JSON object, kept as it came."""

Identifier = Annotated[
    str, AfterValidator(_identifier), WithJsonSchema({"type": "string", "format": "uuid"})
]
"""A UUID in any case, kept in lower case."""

Email = Annotated[
    str,
    Field(max_length=255),
    AfterValidator(_email),
    # The syntax of addresses allows no more than 254 characters.
    WithJsonSchema({"type": "string", "format": "email", "maxLength": 254}),
]
"""An e-mail address, judged by its syntax alone and kept as it came."""

Timestamp = Annotated[
    datetime,
    Field(strict=False),
    BeforeValidator(_timestamp),
    PlainSerializer(format_timestamp, return_type=str, when_used="json"),
    WithJsonSchema(
        {"type": "string", "format": "date-time", "examples": ["2026-11-20T10:00:00.000Z"]}
    ),
]
"""A moment, answered in UTC with milliseconds. Without a zone it is taken as UTC."""

TimestampText = Annotated[
    str,
    WithJsonSchema(
        {"type": "string", "format": "date-time", "examples": ["2026-11-20T10:00:00.000Z"]}
    ),
]
"""A timestamp in the format of the responses: UTC, milliseconds, ``Z``."""

UuidText = Annotated[
    str,
    WithJsonSchema(
        {"type": "string", "format": "uuid", "examples": ["7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e11"]}
    ),
]
"""A UUID that was validated when it was saved."""


@dataclass(frozen=True)
class ItemsDescribedAs:
    """Publishes a model's schema for the items of a list that are judged later, one by one."""

    model: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(core_schema.list_schema(self.model.__pydantic_core_schema__))
        return {**handler(schema), "items": described["items"]}


class LeftOutWhenNone:
    """Marks a field that is no key of the answer when unset, so never null in its schema."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        return next(choice for choice in described["anyOf"] if choice != {"type": "null"})
