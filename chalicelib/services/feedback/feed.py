"""Read feedback for partners: one record, or the feed of changes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from chalicelib.domain.errors import InvalidInput, NotFound
from chalicelib.domain.feedback.feed import (
    FeedMeta,
    FeedPage,
    FeedPosition,
    FeedRequest,
    RemovalReason,
    RemovedFeedback,
    read_feed_position,
    removal_of,
)
from chalicelib.domain.feedback.partner_view import PartnerFeedback, partner_view
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.list_cursor import write_cursor
from chalicelib.domain.paging import in_groups, marshalled_bytes
from chalicelib.domain.work import WorkState
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.caching import cached
from chalicelib.services.forms.wordings import forms_and_wordings
from chalicelib.storage import feedback, feedback_changes
from chalicelib.storage.feedback_changes import Entry

MAX_READ: Final = 500
"""Maximum number of feedback records that are read for one page."""

MAX_BYTES: Final = 4 * 1024 * 1024
"""Size of a page, as Lambda marshals it, after which the page ends. One feedback can be larger."""

_READ_AT_ONCE: Final = 100
_EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_TOLERANCE: Final = timedelta(minutes=1)
"""Difference between the clock of a partner and the clocks of the service."""


@dataclass(frozen=True)
class _Change:
    """A feedback record of an entry, and the position after it.

    Attributes:
        feedback_id: None if the entry is empty.
        row_number: the lowest number that the row of the record contains if the change is visible;
            0 if the transaction of the entry did not change the row.
    """

    feedback_id: str | None
    row_number: int
    at: datetime
    after: FeedPosition


@dataclass
class _Page:
    """The page that is being built.

    Attributes:
        is_waiting: whether the page ends before an entry whose feedback is not visible yet.
    """

    limit: int
    items: list[PartnerFeedback] = field(default_factory=list)
    removed: list[RemovedFeedback] = field(default_factory=list)
    size_bytes: int = 0
    is_waiting: bool = False

    def accepts(self, added: PartnerFeedback | RemovedFeedback) -> bool:
        """Add an item or a removal. Return False if the page is full."""
        size_bytes = self.size_bytes + marshalled_bytes(added.model_dump_json())
        number = len(self.items) + len(self.removed)
        if number >= self.limit or (number and size_bytes > MAX_BYTES):
            return False
        self.size_bytes = size_bytes
        if isinstance(added, PartnerFeedback):
            self.items.append(added)
        else:
            self.removed.append(added)
        return True


@cached(at_most=1)
def _epoch() -> str:
    # A restore stops all functions for longer than a result is cached.
    return feedback_changes.load_epoch()


def read_feed(account_id: str, request: FeedRequest) -> FeedPage:
    """Return the next page of the account's feed.

    The page ends after `limit` items and removals, `MAX_READ` records, or `MAX_BYTES`, and before
    an entry whose feedback is not visible yet. AWS requests: one, and one per 100 records read;
    with ``updatedSince``, one more and one for each two digits of the number of changes. With cold
    caches, three more: the epoch, the places, and the forms with the versions of their wording (one
    per 100 rows: two for each form, one for each version).

    Raises:
        InvalidInput: the fields contradict each other, or the cursor is invalid.
    """
    errors = list(request.rule_errors())
    if errors:
        raise InvalidInput(errors)
    filters = request.filters()
    scope = [_epoch(), account_id, filters]
    position = _start(account_id, request, scope)
    # With a filter, the page can omit feedback.
    is_filtered = filters != FeedRequest().filters()
    at_once, at_most = (_READ_AT_ONCE, MAX_READ) if is_filtered else (request.limit, request.limit)
    entries = feedback_changes.load_after(account_id, position.number, at_most + 1)
    changes = list(_changes(entries, position.offset))
    page, seen = _Page(request.limit), dict[str, float]()
    for group in in_groups(changes[:at_most], at_once):
        read = _read_group(account_id, request, group, seen, page)
        position = read or position
        if read != group[-1].after:
            break
    has_more = bool(changes) and position != changes[-1].after and not page.is_waiting
    return FeedPage(
        items=tuple(page.items),
        removed=tuple(page.removed),
        meta=FeedMeta(
            item_count=len(page.items),
            removed_count=len(page.removed),
            cursor=write_cursor((position.number, position.offset), scope),
            has_more=has_more,
        ),
    )


def _start(account_id: str, request: FeedRequest, scope: list[Any]) -> FeedPosition:
    if request.cursor is not None:
        return read_feed_position(request.cursor, scope)
    if request.updated_since:
        since = max(request.updated_since, _EARLIEST) - _TOLERANCE
        return FeedPosition(feedback_changes.find_last_before(account_id, since))
    return FeedPosition()


def _changes(entries: Sequence[Entry], offset: int) -> Iterator[_Change]:
    """Yield the changes of the entries, without the first ones of the first entry."""
    for entry in entries:
        last = len(entry.ids) - 1
        if last < offset:
            yield _Change(None, 0, entry.at, FeedPosition(entry.number))
        for index, feedback_id in islice(enumerate(entry.ids), offset, None):
            is_last = index == last
            after = (
                FeedPosition(entry.number) if is_last else FeedPosition(entry.number - 1, index + 1)
            )
            row_number = entry.number if entry.numbers_rows else 0
            yield _Change(feedback_id, row_number, entry.at, after)
        offset = 0


def _read_group(
    account_id: str, request: FeedRequest, group: list[_Change], seen: dict[str, float], page: _Page
) -> FeedPosition | None:
    """Add the changes of a group to the page. Return the position after the last one that fits.

    Each change shows the current state, so a record is added once to a page.

    Args:
        seen: the number of the last visible change of each record of the page, by id.
    """
    wanted = {change.feedback_id for change in group} - seen.keys()
    stored = feedback.find_many([feedback_id for feedback_id in wanted if feedback_id])
    removals = {each: RemovalReason.DELETED for each in wanted if each and each not in stored}
    shown: list[StoredFeedback] = []
    for record in stored.values():
        if record.state is not WorkState.DONE:
            continue
        if reason := removal_of(record, request):
            removals[record.feedback.id] = reason
        elif record.feedback.account_id == account_id and request.matches(record.feedback):
            shown.append(record)
    views = {view.id: view for view in partner_views(account_id, shown)}
    position = None
    for change in group:
        feedback_id = change.feedback_id
        if feedback_id:
            visible_number = seen.get(feedback_id, _visible_number(stored.get(feedback_id)))
            if visible_number < change.row_number:
                page.is_waiting = True
                return position
            if feedback_id not in seen:
                added: PartnerFeedback | RemovedFeedback | None = views.get(feedback_id)
                if reason := removals.get(feedback_id):
                    added = RemovedFeedback(id=feedback_id, at=change.at, reason=reason)
                if added and not page.accepts(added):
                    return position
                seen[feedback_id] = visible_number
        position = change.after
    return position


def _visible_number(stored: StoredFeedback | None) -> float:
    """Return the number of the last change that a reader sees; infinity if it sees all of them.

    Deleted feedback does not change any more. Parked feedback is not visible to partners, and has
    no change before an operator replays its processing.
    """
    if stored is None or stored.state is WorkState.PARKED:
        return math.inf
    return stored.entry_number


def read_partner_feedback(account_id: str, feedback_id: str) -> PartnerFeedback:
    """Return a feedback record of the account.

    One AWS request if the form has not changed since and is cached.

    Raises:
        NotFound: the account has no feedback record with this id.
    """
    stored = feedback.find(feedback_id)
    if stored is None or stored.feedback.account_id != account_id:
        raise NotFound("feedback")
    return partner_views(account_id, [stored])[0]


def partner_views(account_id: str, records: Sequence[StoredFeedback]) -> list[PartnerFeedback]:
    """Return the partner views of feedback records of the account, in the same order."""
    directory = account_directory(account_id)
    forms = forms_and_wordings([stored.feedback for stored in records])
    views = []
    for stored, (form, wording) in zip(records, forms, strict=True):
        name = form.saved.name if form else ""
        views.append(partner_view(stored, name, directory, wording))
    return views
