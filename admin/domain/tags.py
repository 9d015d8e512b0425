"""Tags in definitions of customers."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from pydantic import Field

from admin.domain.definitions import Colour
from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.ids import derived_id
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.schema import Input

MAX_TAGS: Final = 1_000
"""Maximum number of tags of an account."""


class TagDefinition(Input):
    """A tag in a definition. Names that differ only in case are the same tag."""

    tag: str = Field(
        min_length=1,
        max_length=255,
        description="The name of the tag. Names that differ only in case are the same tag.",
    )
    color: Colour | None = Field(
        default=None,
        description="The colour of the tag, for all customers. Default: the tag keeps its colour.",
    )


def tag_id(account_id: str, name: str) -> str:
    """Return the id of the account's tag with this name. The case of the name is ignored."""
    return derived_id(account_id, "tag", name.casefold())


def merge_tags(
    account_id: str,
    definitions: Iterable[TagDefinition],
    existing: Mapping[str, Tag],
    now: datetime,
) -> tuple[Tag, ...]:
    """Return the tags to save: one tag per name, with the colour from the definitions.

    Existing tags retain their id and creation time. An existing tag without a new colour is
    unchanged.

    Args:
        existing: the account's stored tags by id; tags that no definition contains may be missing.
    """
    merged: dict[str, Tag] = {}
    for definition in definitions:
        identifier = tag_id(account_id, definition.tag)
        tag = merged.get(identifier) or existing.get(identifier)
        if tag is None:
            tag = Tag(id=identifier, created_at=now, updated_at=now, tag=definition.tag, color=None)
        if definition.color and definition.color != tag.color:
            tag = tag.model_copy(update={"color": definition.color, "updated_at": now})
        merged[identifier] = tag
    return tuple(merged.values())


def too_many_tags() -> InputError:
    """Create the error for a tag that exceeds the account's limit."""
    detail = f"The account can have at most {MAX_TAGS:,} tags."
    return InputError(json_pointer("tags"), "too_many", detail)
