"""Base classes for the parts of a saved form: defaults for unset fields, ids and timestamps.

A form is saved rarely and read often, so its timestamps are stored as the response text: reading a
form parses no timestamp.
"""

from typing import Annotated

from pydantic import ConfigDict, Field, WithJsonSchema

from chalicelib.domain.schema import Resource

TimestampText = Annotated[
    str,
    WithJsonSchema(
        {"type": "string", "format": "date-time", "examples": ["2026-11-20T10:00:00.000Z"]}
    ),
]
"""A timestamp as returned: UTC, milliseconds, ``Z``."""

UuidText = Annotated[
    str,
    WithJsonSchema(
        {"type": "string", "format": "uuid", "examples": ["7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e11"]}
    ),
]
"""A UUID that was validated on save."""


class Part(Resource):
    """A part of a form. Unset fields are returned with their defaults.

    Types are strict, so that definitions can contain the same parts.
    """

    # Most parts are only parsed inside a form; their own validators would slow down cold starts.
    model_config = ConfigDict(
        strict=True, defer_build=True, json_schema_serialization_defaults_required=True
    )


class DatedPart(Part):
    """A part with an id. Its timestamps survive a replacement of the form."""

    id: UuidText = Field(description="Unique identifier.")
    created_at: TimestampText = Field(description="Time of creation.")
    updated_at: TimestampText = Field(description="Time of the last change.")
