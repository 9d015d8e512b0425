"""Base classes and types of all models: camelCase names, immutable instances, strict input."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import cache
from itertools import islice
from types import ModuleType
from typing import Annotated, Any, ClassVar, Final, LiteralString

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema, from_json

from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import MAX_ERRORS


class Resource(BaseModel):
    """Base class of response models. Unknown fields are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,  # errors are logged and must not contain customers' data
        defer_build=True,
        json_schema_serialization_defaults_required=True,
    )


class Input(BaseModel):
    """Base class of input models.

    Unknown fields and values of the wrong type are errors. If an object has more than `MAX_ERRORS`
    unknown fields, only the first `MAX_ERRORS` of them are reported. Strings are trimmed. A field
    with a value of ``unset`` counts as absent, except the fields of ``clearable``.
    """

    unset: ClassVar[Collection[str | None]] = (None,)
    """The values, after trimming, of fields that count as absent: null, unless a model differs."""

    clearable: ClassVar[Collection[str]] = ()
    """The names in JSON of the fields that null clears."""

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
    def _drop_unset_fields(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if len(data) <= MAX_ERRORS and all(map(cls._is_set, data.values())):
            return data
        known = {field.alias for field in cls.model_fields.values()}
        unknown = dict(islice(((k, v) for k, v in data.items() if k not in known), MAX_ERRORS))
        return {
            name: value
            for name, value in data.items()
            if name in unknown or (name in known and (cls._is_set(value) or name in cls.clearable))
        }

    @classmethod
    def _is_set(cls, value: Any) -> bool:
        return (value.strip(WHITE_SPACE) if isinstance(value, str) else value) not in cls.unset


class Choice(StrEnum):
    """Base class of enumerations in strict models, which also accept the values as strings."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        return {**handler(source), "strict": False}


WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The white space that pydantic trims. `str.strip` would also trim some control characters."""


def must(
    is_valid: Callable[[Any], object], code: LiteralString, detail: LiteralString
) -> AfterValidator:
    """Return a validator that raises the error with this code and detail for invalid values."""

    def check(value: Any) -> Any:
        if not is_valid(value):
            raise PydanticCustomError(code, detail)
        return value

    return AfterValidator(check)


def _identifier(text: str) -> str:
    identifier = parse_id(text)
    if identifier is None:
        raise PydanticCustomError("invalid_uuid", "Must be a UUID in the form 8-4-4-4-12.")
    return identifier


MAX_EMAIL: Final = 254
"""Maximum length of an e-mail address."""


@cache
def _email_validator() -> ModuleType:
    # Imported on first use: only functions that accept e-mail addresses need it.
    import email_validator

    # By default, the library rejects special-use domains such as .test. To accept them, its
    # documentation recommends clearing this list.
    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
    return email_validator


def is_email(text: str) -> bool:
    """Return whether the text has the syntax of an e-mail address of at most 254 characters."""
    if len(text) > MAX_EMAIL:
        return False  # The library examines the whole text first.
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
        return False
    return True


def _timestamp(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    try:
        timestamp = _date_time(value)
        if timestamp.tzinfo:
            return timestamp.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise PydanticCustomError(
            "invalid_timestamp",
            "Must be an ISO 8601 date-time, such as 2026-11-20T10:00:00Z.",
        ) from None
    raise PydanticCustomError(
        "invalid_timestamp",
        "Must have an offset, such as {text}+01:00, or {text}Z for UTC.",
        {"text": timestamp.isoformat()},
    )


def _date_time(value: Any) -> datetime:
    """Parse an ISO 8601 date-time, with or without an offset. RFC 3339 allows ``t`` and ``z``."""
    return datetime.fromisoformat(value.upper() if isinstance(value, str) else value)


def parse_timestamp(text: str) -> datetime | None:
    """Parse an ISO 8601 timestamp with an offset. Return None if it is invalid."""
    try:
        timestamp: datetime = _timestamp(text)
    except PydanticCustomError:
        return None
    return timestamp


def with_offset(value: Any, zone: tzinfo) -> Any:
    """Return an ISO 8601 date-time with the offset of this time zone, if it has no offset.

    A date becomes its midnight. Other values are returned unchanged. If the local time occurs
    twice, at the end of daylight saving time, it is the first one.
    """
    try:
        timestamp = _date_time(value)
        return value if timestamp.tzinfo else timestamp.replace(tzinfo=zone).isoformat()
    except (TypeError, ValueError, OverflowError):
        return value


def format_timestamp(timestamp: datetime) -> str:
    """Format a timestamp in UTC with milliseconds and ``Z``: ``2026-11-20T10:00:00.000Z``."""
    return timestamp.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


MAX_JSON_LEVELS: Final = 100
"""Maximum number of nested objects and arrays in a stored JSON value."""
_PARSED_LEVELS: Final = 200
"""Maximum number of nested objects and arrays that pydantic parses."""


def _json_object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise PydanticCustomError("wrong_type", "Must be an object.")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
        # Pydantic parses stored JSON. The arrays stand for the records that contain the object.
        outer = _PARSED_LEVELS - MAX_JSON_LEVELS
        from_json("[" * outer + text + "]" * outer)
    except UnicodeEncodeError:
        raise PydanticCustomError("not_unicode", "Contains a lone surrogate.") from None
    except (TypeError, ValueError, RecursionError):
        raise PydanticCustomError(
            "wrong_type",
            "Contains a value that JSON does not support, a number with too many digits,"
            f" or more than {MAX_JSON_LEVELS} nested levels.",
        ) from None
    return value


JsonObject = Annotated[
    dict[str, Any], PlainValidator(_json_object), WithJsonSchema({"type": "object"})
]
"""Any JSON object, stored unchanged."""

MAX_TEXT: Final = 255
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
"""A short text, such as a name."""

Identifier = Annotated[
    str, AfterValidator(_identifier), WithJsonSchema({"type": "string", "format": "uuid"})
]
"""A UUID. Upper-case letters are accepted and stored in lower case."""

Email = Annotated[
    str,
    Field(max_length=255),
    must(is_email, "invalid_email", "Must be an e-mail address."),
    WithJsonSchema({"type": "string", "format": "email", "maxLength": MAX_EMAIL}),
]
"""An e-mail address. Only its syntax is validated, and it is stored unchanged."""

_DATE_TIME: Final = WithJsonSchema(
    {"type": "string", "format": "date-time", "examples": ["2026-11-20T10:00:00.000Z"]}
)

Timestamp = Annotated[
    datetime,
    PlainSerializer(format_timestamp, return_type=str, when_used="json"),
    _DATE_TIME,
]
"""A timestamp in a response: UTC, with milliseconds. It was validated before it was saved."""

InputTimestamp = Annotated[Timestamp, Field(strict=False), BeforeValidator(_timestamp)]
"""A timestamp in an input. It has an offset, and is converted to UTC."""

TimestampText = Annotated[str, _DATE_TIME]
"""A timestamp in the format of the responses: UTC, milliseconds, ``Z``."""

UuidText = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
"""A UUID in a response. It was validated before it was saved, so it is not validated again."""


@dataclass(frozen=True)
class ItemsDescribedAs:
    """Use the JSON schema of a model for the items of a list that pydantic does not validate."""

    model: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(core_schema.list_schema(self.model.__pydantic_core_schema__))
        return {**handler(schema), "items": described["items"]}


class OmittedWhenNone:
    """Mark a field that responses omit if it is None. Its JSON schema does not allow null."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        return next(choice for choice in described["anyOf"] if choice != {"type": "null"})
