"""The feed of changes to feedback: requests, cursors and pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field, WithJsonSchema

from chalicelib.domain.errors import InvalidCursor
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.partner_view import PartnerFeedback
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.input_errors import InputError, invalid_combination, out_of_range
from chalicelib.domain.language import Language
from chalicelib.domain.list_cursor import (
    CursorRequest,
    CursorText,
    period_errors,
    read_cursor,
)
from chalicelib.domain.paging import WholeNumber
from chalicelib.domain.schema import Identifier, InputTimestamp, Resource, Timestamp, UuidText

_MAX_IDS: Final = 100
_MAX_NUMBER: Final = 10**12

_Ids = Annotated[list[Identifier], Field(min_length=1, max_length=_MAX_IDS)]
_Rating = Annotated[
    WholeNumber,
    Field(ge=0, le=10),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 10}),
]


class FeedRequest(CursorRequest):
    """The requested page of the feed. Repeat the filters with each cursor."""

    _starts = ("updated_since",)

    updated_since: InputTimestamp | None = Field(
        default=None,
        description="Start with the changes since this time. Not allowed with a cursor.",
    )
    form_ids: _Ids | None = Field(default=None, description="Only these forms.")
    brand_ids: _Ids | None = Field(default=None, description="Only these brands.")
    store_ids: _Ids | None = Field(default=None, description="Only these stores.")
    customer_id: Identifier | None = Field(default=None, description="Only this customer.")
    purchase_id: Identifier | None = Field(default=None, description="Only this purchase.")
    kind: FormKind | None = Field(default=None, description="Only this kind of form.")
    language: Annotated[Language, Field(strict=False)] | None = Field(
        default=None, description="Only this language."
    )
    min_rating: _Rating | None = Field(default=None, description="Lowest rating.")
    max_rating: _Rating | None = Field(default=None, description="Highest rating.")
    created_since: InputTimestamp | None = Field(
        default=None, description="Only feedback created at this time or later."
    )
    created_until: InputTimestamp | None = Field(
        default=None, description="Only feedback created before this time."
    )
    include_tests: bool = Field(
        default=False, description="Whether to include feedback that is marked as a test."
    )

    def rule_errors(self) -> Iterator[InputError]:
        """Yield the errors of fields that contradict each other."""
        if self.cursor is not None and self.updated_since:
            yield invalid_combination("Must not be combined with a cursor.", "updatedSince")
        lowest, highest = self.min_rating, self.max_rating
        if lowest is not None and highest is not None and lowest > highest:
            yield out_of_range("Must not be less than minRating.", "maxRating")
        yield from period_errors(self.created_since, self.created_until)

    def matches(self, feedback: Feedback) -> bool:
        """Return whether the filters select a feedback record."""
        rating, created_at = feedback.rating, feedback.created_at
        return (
            (self.form_ids is None or feedback.form_id in self.form_ids)
            and (self.brand_ids is None or feedback.brand_id in self.brand_ids)
            and (self.store_ids is None or feedback.store_id in self.store_ids)
            and self.customer_id in (None, feedback.customer_id)
            and self.purchase_id in (None, feedback.purchase_id)
            and self.kind in (None, feedback.kind)
            and self.language in (None, feedback.language)
            and (self.min_rating is None or (rating is not None and rating >= self.min_rating))
            and (self.max_rating is None or (rating is not None and rating <= self.max_rating))
            and (self.created_since is None or created_at >= self.created_since)
            and (self.created_until is None or created_at < self.created_until)
        )


class RemovalReason(StrEnum):
    """Why a partner must remove a feedback from its copy."""

    DELETED = "DELETED"
    TEST = "TEST"
    ERASED = "ERASED"


class RemovedFeedback(Resource):
    """Feedback that the partner must remove from its copy, if the copy contains it."""

    id: UuidText
    at: Timestamp = Field(description="Time of the change.")
    reason: RemovalReason = Field(
        description="`DELETED`: an operator deleted it. `TEST`: it is marked as a test. `ERASED`:"
        " its customer was erased; only with a filter by customer or purchase."
    )


class FeedMeta(Resource):
    """The position of a page in the feed."""

    item_count: int = Field(description="Number of items on this page.", examples=[1])
    removed_count: int = Field(description="Number of removed feedback on this page.", examples=[1])
    cursor: CursorText = Field(
        description="Position after this page. Keep it, and send it with the next request.",
        examples=["WzEsIDAsICJmZDg3ZDkyOWM5ZDk4N2QxIl0="],
    )
    has_more: bool = Field(
        description="Whether more changes are known. Otherwise, ask again later."
    )


class FeedPage(Resource):
    """One page of the feed, in the order of the changes."""

    items: tuple[PartnerFeedback, ...] = Field(
        description="New or changed feedback, in its current state."
    )
    removed: tuple[RemovedFeedback, ...] = Field(
        description="Feedback to remove. Filters do not restrict it."
    )
    meta: FeedMeta


@dataclass(frozen=True)
class FeedPosition:
    """A position in the feed of an account.

    Attributes:
        number: the number of the last entry that was read completely.
        offset: the number of ids that were read of the next entry.
    """

    number: int = 0
    offset: int = 0


def read_feed_position(cursor: str, scope: Any) -> FeedPosition:
    """Return the position of a cursor.

    Raises:
        InvalidCursor: the cursor is not one of this feed, with the same scope.
    """
    number, offset = read_cursor(cursor, scope, int, int)
    if not (0 <= number < _MAX_NUMBER and 0 <= offset < _MAX_NUMBER):
        raise InvalidCursor
    return FeedPosition(number, offset)


def removal_of(stored: StoredFeedback, request: FeedRequest) -> RemovalReason | None:
    """Return why a changed feedback record must be removed from a copy; None if it must not."""
    if stored.is_test and not request.include_tests:
        return RemovalReason.TEST
    record = stored.feedback
    is_unlinked = (request.customer_id and record.customer_id is None) or (
        request.purchase_id and record.purchase_id is None
    )
    return RemovalReason.ERASED if record.is_anonymized and is_unlinked else None
