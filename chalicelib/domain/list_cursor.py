"""Lists with a cursor: a page ends with the position of the last record that was examined."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, WithJsonSchema

from chalicelib.domain.errors import InvalidCursor
from chalicelib.domain.idempotency import hash_of_input
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, out_of_range
from chalicelib.domain.paging import DEFAULT_LIMIT, MAX_LIMIT, WholeNumber
from chalicelib.domain.schema import Input, Resource, format_timestamp, parse_timestamp

CursorPosition = tuple[datetime, str]
"""The creation time and the id of a record."""

_MAX_CURSOR: Final = 500
_HASH_LENGTH: Final = 16

CursorText = Annotated[
    str, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": _MAX_CURSOR})
]
"""A cursor. An empty one is rejected like every cursor that is not from this service."""


class CursorRequest(Input):
    """The requested page of a list with a cursor."""

    _starts: ClassVar[tuple[str, ...]] = ()
    """The fields that select the start of the list, besides the cursor. They are not filters."""

    limit: WholeNumber = Field(
        default=DEFAULT_LIMIT,
        ge=1,
        le=MAX_LIMIT,
        description="Maximum number of records. The default is 10.",
    )
    cursor: CursorText | None = Field(
        default=None,
        max_length=_MAX_CURSOR,
        description="The `cursor` of the preceding page, with the same filters. Absent at the"
        " start.",
    )

    def filters(self) -> dict[str, Any]:
        """Return the filters, which must stay the same. The order of ids does not matter."""
        not_filters = {"limit", "cursor", *self._starts}
        filters = self.model_dump(mode="json", exclude=not_filters, exclude_none=True)
        return {
            name: sorted(set(value)) if isinstance(value, list) else value
            for name, value in filters.items()
        }

    def position(self) -> CursorPosition | None:
        """Return the creation time and the id at which this page starts; None at the beginning.

        Raises:
            InvalidCursor: the cursor is not from a page with these filters.
        """
        if self.cursor is None:
            return None
        created_at, record_id = read_cursor(self.cursor, self.filters(), str, str)
        at = parse_timestamp(created_at)
        if at is None or format_timestamp(at) != created_at or parse_id(record_id) is None:
            raise InvalidCursor
        return at, record_id

    def cursor_at(self, created_at: datetime, record_id: str) -> str:
        """Return the cursor after the record with this creation time and id."""
        return write_cursor((format_timestamp(created_at), record_id), self.filters())

    def page_meta(
        self,
        item_count: int,
        examined: Sequence[CursorPosition],
        end: CursorPosition | None,
        *,
        is_end: bool,
    ) -> "CursorMeta":
        """Return the metadata of a page.

        Args:
            examined: the positions of the records that were read.
            end: the position of the last of these records that belongs to the page or does not
                match the filters; None if there is none.
            is_end: whether the list ends with the records that were read.
        """
        has_more = not is_end or end != (examined[-1] if examined else None)
        cursor = self.cursor_at(*end) if end and has_more else None
        return CursorMeta(item_count=item_count, cursor=cursor, has_more=cursor is not None)


def write_cursor(position: tuple[str | int, ...], scope: Any) -> str:
    """Return the cursor of a position.

    Args:
        scope: the cursor is valid only with an equal scope, for example the same filters.
    """
    return urlsafe_b64encode(json.dumps([*position, _hash_of(scope)]).encode()).decode()


def read_cursor(cursor: str, scope: Any, *types: type) -> list[Any]:
    """Return the position of a cursor. Its values have these types; check their ranges.

    Raises:
        InvalidCursor: the cursor is not from this service, or has another scope.
    """
    try:
        values: list[Any] = json.loads(urlsafe_b64decode(cursor.encode()))
        *position, scope_hash = values
    except (ValueError, TypeError, RecursionError):
        raise InvalidCursor from None
    if scope_hash != _hash_of(scope) or tuple(map(type, position)) != types:
        raise InvalidCursor
    return position


def period_errors(since: datetime | None, until: datetime | None) -> Iterator[InputError]:
    """Yield the error of a period that ends before it starts."""
    if since and until and since >= until:
        yield out_of_range("Must be after createdSince.", "createdUntil")


def _hash_of(scope: Any) -> str:
    return hash_of_input(scope)[:_HASH_LENGTH]


class CursorMeta(Resource):
    """Metadata of a page with a cursor."""

    item_count: int = Field(
        description="Number of records on this page. It can be 0 before the end.", examples=[1]
    )
    cursor: CursorText | None = Field(
        description="Send it to get the next page; `null` at the end of the list.",
        examples=["WzEsIDAsICJmZDg3ZDkyOWM5ZDk4N2QxIl0="],
    )
    has_more: bool = Field(
        description="Whether the list continues after this page.", examples=[True]
    )
