"""Tags: labels for customers. A tag belongs to the account; customers refer to it by its id."""

from pydantic import Field

from chalicelib.domain.schema import Resource, Timestamp, UuidText


class Tag(Resource):
    """A label on a customer."""

    id: UuidText
    created_at: Timestamp
    updated_at: Timestamp
    tag: str = Field(description="The tag's name.", examples=["VIP"])
    color: str | None = Field(description="A hexadecimal colour.", examples=["#C0392B"])
