"""Pagination: the page that a list request specifies, and the metadata of the response."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Annotated, Any, Final, TypeVar

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from chalicelib.domain.errors import RecordTooLarge
from chalicelib.domain.schema import Input, Resource

Record = TypeVar("Record")

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 100
MAX_PAGE: Final = 2**53 - 1
MAX_LISTED_BYTES: Final = 61_000
"""Size limit of a listed record, as Lambda marshals it; see `marshalled_bytes`.

A page of 100 records stays below Lambda's limit of 6,291,556 bytes for a response. Each record can
later grow by 1,900 bytes, for example by its counts.
"""

BLOCK_SIZE: Final = 100
"""The number of list positions in a block. The list's index has one key per block."""


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PydanticCustomError("wrong_type", "Must be a number.")
    if isinstance(value, float) and not value.is_integer():
        raise PydanticCustomError("not_whole", "Must be a whole number.")
    return int(value)


def marshalled_bytes(body: str) -> int:
    """Return the size of a response body as Lambda's runtime for Python 3.11 marshals it.

    The runtime escapes every non-ASCII character and every quote of the body: a Cyrillic letter
    takes six bytes, a quote two.
    """
    return len(json.dumps(body)) - len('""')


def check_listable(subject: str, record: str) -> None:
    """Check that a page of 100 records with JSON of this size fits into a response.

    Raises:
        RecordTooLarge: the record exceeds `MAX_LISTED_BYTES`.
    """
    if marshalled_bytes(record) > MAX_LISTED_BYTES:
        raise RecordTooLarge(f"{subject} with escaped characters", MAX_LISTED_BYTES)


WholeNumber = Annotated[int, BeforeValidator(_whole_number)]


class PageRequest(Input):
    """The requested page of a list.

    Attributes:
        limit: records per page, 1 to 100.
        page: page number, from 1.
    """

    limit: WholeNumber = Field(
        default=DEFAULT_LIMIT,
        ge=1,
        le=MAX_LIMIT,
        description="Number of records per page; 10 if it is absent.",
    )
    page: WholeNumber = Field(
        default=1, ge=1, le=MAX_PAGE, description="Page number; 1 if it is absent."
    )

    unset = ()  # unlike in other input, null is an error here

    @property
    def first_position(self) -> int:
        """The position of the page's first record in the list. Positions in the list start at 1."""
        return (self.page - 1) * self.limit + 1

    @property
    def last_position(self) -> int:
        """The position of the page's last record in the list, assuming that the page is full.

        The last page of a list can end earlier.
        """
        return self.page * self.limit

    def of(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records of this page, from all records of the list."""
        return records[self.first_position - 1 : self.last_position]

    def ranges(self, total: int) -> Iterator[tuple[int, int, int]]:
        """Yield each block that the page touches, with the page's first and last position in it.

        A page whose limit divides `BLOCK_SIZE` touches one block. Any other page touches at most
        two.
        """
        first, last = self.first_position, min(self.last_position, total)
        while first <= last:
            block = block_of(first)
            end = min(last, (block + 1) * BLOCK_SIZE)
            yield block, first, end
            first = end + 1


def block_of(position: int) -> int:
    """Return the number of the block that contains the position, from 0."""
    return (position - 1) // BLOCK_SIZE


class PageMeta(Resource):
    """Pagination metadata of a list response."""

    item_count: int = Field(description="Number of records on this page.", examples=[1])
    total_items: int = Field(description="Number of records in the list.", examples=[3])
    items_per_page: int = Field(description="The requested `limit`.", examples=[1])
    total_pages: int = Field(
        description="Number of pages in the list; 0 if the list is empty.", examples=[3]
    )
    current_page: int = Field(description="Number of this page.", examples=[2])


def page_meta(request: PageRequest, item_count: int, total_items: int) -> PageMeta:
    """Build the pagination metadata of a page.

    Args:
        item_count: number of records on the page.
        total_items: number of records in the list.
    """
    return PageMeta(
        item_count=item_count,
        total_items=total_items,
        items_per_page=request.limit,
        total_pages=-(-total_items // request.limit),
        current_page=request.page,
    )


def in_groups(items: Iterable[Record], size: int) -> Iterator[list[Record]]:
    """Yield the items in lists of this size. The last list can be shorter."""
    remaining = iter(items)
    while group := list(islice(remaining, size)):
        yield group


def all_pages(
    load: Callable[[PageRequest], tuple[list[Record], int]],
) -> Iterator[tuple[list[Record], int]]:
    """Yield all pages of a list, with the total number of records that each page reports.

    Args:
        load: returns a page and the total number of records.
    """
    for number in count(1):
        records, total = load(PageRequest(limit=MAX_LIMIT, page=number))
        yield records, total
        if number * MAX_LIMIT >= total:
            return
