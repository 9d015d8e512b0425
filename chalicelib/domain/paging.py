"""Lists by page number: what may be asked for, which positions a page holds, and its meta."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from chalicelib.domain.schema import Input, Resource

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 100
MAX_PAGE: Final = 2**53 - 1


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PydanticCustomError("wrong_type", "This must be a number.")
    if isinstance(value, float) and not value.is_integer():
        raise PydanticCustomError("not_whole", "This must be a whole number.")
    return int(value)


WholeNumber = Annotated[int, BeforeValidator(_whole_number)]


class PageRequest(Input):
    """Which page of a list is asked for (interface, section 8).

    Attributes:
        limit: records on a page, 1 to 100.
        page: the page's number, from 1.
    """

    limit: WholeNumber = Field(
        default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="How many records a page holds."
    )
    page: WholeNumber = Field(default=1, ge=1, le=MAX_PAGE, description="The number of the page.")

    @classmethod
    def _is_given(cls, value: Any) -> bool:
        return True  # unlike elsewhere, null is no number here and is refused

    @property
    def first_position(self) -> int:
        """The position of the page's first record."""
        return (self.page - 1) * self.limit + 1

    @property
    def last_position(self) -> int:
        """The position of the page's last record, were the page full."""
        return self.page * self.limit


class PageMeta(Resource):
    """Where a page stands in its list."""

    item_count: int = Field(description="Records on this page.")
    total_items: int = Field(description="Records in the whole list.")
    items_per_page: int = Field(description="The limit that was asked for.")
    total_pages: int = Field(description="Pages in the whole list, 0 when it is empty.")
    current_page: int = Field(description="The number of this page.")


def page_meta(request: PageRequest, item_count: int, total_items: int) -> PageMeta:
    """The meta of a page that holds ``item_count`` of a list's ``total_items`` records."""
    return PageMeta(
        item_count=item_count,
        total_items=total_items,
        items_per_page=request.limit,
        total_pages=-(-total_items // request.limit),
        current_page=request.page,
    )
