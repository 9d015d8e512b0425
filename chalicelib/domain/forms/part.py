"""Base classes for the parts of a saved form: defaults for unset fields, ids and timestamps.

A form is saved rarely and read often, so its timestamps are stored as the response text: reading a
form parses no timestamp.
"""

from pydantic import ConfigDict, Field

from chalicelib.domain.schema import Resource, TimestampText, UuidText


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
    created_at: TimestampText = Field(description="When it was first saved.")
    updated_at: TimestampText = Field(description="When it was last changed.")
