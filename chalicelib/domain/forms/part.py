"""What the parts of a saved form share: defaults for whatever is unset, an id and two dates.

A saved form is written rarely and read all the time, so its dates are kept as they are answered:
reading a form turns no text into a moment and back.
"""

from pydantic import ConfigDict, Field

from chalicelib.domain.schema import Resource, TimestampText, UuidText


class Part(Resource):
    """A part of a form. Every key is always answered: what is unset has its default.

    Strict about types, so that an operator's document may be made of parts too.
    """

    # Most parts are only read inside a form; a validator of their own would slow every cold start.
    model_config = ConfigDict(
        strict=True, defer_build=True, json_schema_serialization_defaults_required=True
    )


class DatedPart(Part):
    """A part with an identity of its own, whose dates outlive a replacement of the form."""

    id: UuidText = Field(description="Unique identifier.")
    created_at: TimestampText = Field(description="When it was first saved.")
    updated_at: TimestampText = Field(description="When it was last changed.")
