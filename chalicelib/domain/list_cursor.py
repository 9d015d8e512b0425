"""Lists with a cursor: a page ends with the position of the last record that was examined."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Final

from pydantic import Field

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.idempotency import hash_of_input
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.paging import DEFAULT_LIMIT, MAX_LIMIT, WholeNumber
from chalicelib.domain.schema import Input, Resource

_MAX_CURSOR: Final = 1_000
_HASH_LENGTH: Final = 16


class CursorRequest(Input):
    """The requested page of a list with a cursor."""

    limit: WholeNumber = Field(
        default=DEFAULT_LIMIT,
        ge=1,
        le=MAX_LIMIT,
        description="Maximum number of records. The default is 10.",
    )
    cursor: str | None = Field(
        default=None,
        max_length=_MAX_CURSOR,
        description="The `cursor` of the preceding page, with the same filters. Absent at the"
        " start.",
    )

    def position(self) -> tuple[str, str] | None:
        """Return the creation time and the id at which this page starts; None at the beginning.

        Raises:
            InvalidInput: the cursor is not from a page with these filters.
        """
        if self.cursor is None:
            return None
        try:
            created_at, record_id, filters = json.loads(urlsafe_b64decode(self.cursor.encode()))
        except (ValueError, TypeError, RecursionError):
            raise self._invalid_cursor() from None
        texts = (created_at, record_id)
        if filters != self._filter_hash() or not all(isinstance(t, str) and t for t in texts):
            raise self._invalid_cursor()
        return created_at, record_id

    def cursor_at(self, created_at: str, record_id: str) -> str:
        """Return the cursor after the record with this creation time and id."""
        position = json.dumps([created_at, record_id, self._filter_hash()])
        return urlsafe_b64encode(position.encode()).decode()

    def page_meta(
        self,
        item_count: int,
        examined: Sequence[tuple[str, str]],
        end: tuple[str, str] | None,
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

    def _filter_hash(self) -> str:
        filters = self.model_dump(mode="json", exclude={"limit", "cursor"}, exclude_none=True)
        return hash_of_input(filters)[:_HASH_LENGTH]

    def _invalid_cursor(self) -> InvalidInput:
        detail = "Not a cursor of this list with these filters. Start again without cursor."
        return InvalidInput([InputError("/cursor", "invalid_cursor", detail)])


class CursorMeta(Resource):
    """Metadata of a page with a cursor."""

    item_count: int = Field(
        description="Number of records on this page. It can be 0 before the end."
    )
    cursor: str | None = Field(
        description="Send it to get the next page; `null` at the end of the list."
    )
    has_more: bool = Field(description="Whether the list continues after this page.")
