"""Base classes for the parts of a saved form: defaults for unset fields, ids and timestamps.

Forms are read much more often than they are saved. Their timestamps are therefore stored in the
format of the response, so that reading a form parses no timestamps.
"""

from typing import Any

from pydantic import ConfigDict, Field

from chalicelib.domain.schema import Resource, TimestampText, UuidText


class Part(Resource):
    """A part of a form. Responses contain the default values of unset fields.

    Validation is strict, because operators load definitions that contain these parts.
    """

    # Defer building the validators: most parts are only parsed as part of a form, and building a
    # separate validator for each would slow down cold starts.
    model_config = ConfigDict(
        strict=True, defer_build=True, json_schema_serialization_defaults_required=True
    )


class IdentifiedPart(Part):
    """A part with an id."""

    id: UuidText = Field(description="Unique identifier.")


class DatedPart(IdentifiedPart):
    """A part with an id and timestamps.

    If a new definition replaces the form, the part retains its id and its creation time.
    """

    created_at: TimestampText = Field(description="Time of creation.")
    updated_at: TimestampText = Field(description="Time of the last change.")


def text_field(description: str, example: str) -> Any:
    """Return a field with a text, by default empty."""
    return Field(default="", description=description, examples=[example])
