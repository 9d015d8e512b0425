"""Read the records that the statistics include, give them groups, and correct the statistics."""

from collections.abc import Collection, Iterator

from admin.storage.counts import replace_numbers
from chalicelib.domain.feedback.daily import NAMES, Numbers
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.paging import MAX_LIMIT, in_groups
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState
from chalicelib.storage import purchases
from chalicelib.storage.dynamodb.table import read_indexed, read_together
from chalicelib.storage.dynamodb.transactions import try_write
from chalicelib.storage.feedback import FeedbackRow, count_in
from chalicelib.storage.solicitations import SolicitationRow, build_solicitation
from chalicelib.storage.statistics import StatisticsRow
from chalicelib.storage.trackers import TrackerRow

_SENT = (SolicitationState.SENT, SolicitationState.UNKNOWN)


def sent_surveys(account_id: str) -> Iterator[list[tuple[Solicitation, str]]]:
    """Yield the surveys that are counted as sent or should be, in lists of up to 100.

    Each survey that is not counted has the id of its store, any other one ``""``.

    One request per MB of index entries and two per 100 surveys. The index is eventually consistent.
    """
    entries = SolicitationRow.by_account.query(
        account_id, filter_condition=SolicitationRow.survey_id.exists()
    )
    rows = map(build_solicitation, read_indexed(SolicitationRow, entries))
    sent = (each for each in rows if each.counted_as or each.state in _SENT)
    for group in in_groups(sent, MAX_LIMIT):
        new = [each.id for each in group if not each.counted_as]
        found = purchases.find_many(account_id, new)
        yield [(each, found[each.id].store_id if each.id in found else "") for each in group]


def assign_survey(solicitation: Solicitation, key: str) -> bool:
    """Give a survey of an earlier release its group. Return False if it has changed.

    Two requests; one without a tracker.
    """
    if solicitation.tracker_id:
        tracker = TrackerRow(solicitation.tracker_id)
        is_known = TrackerRow.tracker_id.exists()
        try_write(lambda: tracker.update(TrackerRow.changes(counted_as=key), is_known))
    row = SolicitationRow(solicitation.id)
    is_new = SolicitationRow.has(counted_as=None, state=solicitation.state)
    return try_write(lambda: row.update(SolicitationRow.changes(counted_as=key), is_new))


def groups_of_trackers(tracker_ids: Collection[str | None]) -> dict[str, str]:
    """Return the groups in which surveys are counted as sent, by id of the tracker.

    One consistent request per 100 trackers.
    """
    rows = read_together(*((TrackerRow, each) for each in {*tracker_ids} if each))
    return {row.tracker_id: row.counted_as for row in rows if row and row.counted_as}


def assign_feedback(stored: StoredFeedback) -> bool:
    """Give feedback of an earlier release its groups. Return False if it has changed. One request.

    Args:
        stored: the record with its groups.
    """
    row = FeedbackRow(stored.feedback.id)
    is_new = FeedbackRow.has(counted_as=None, state=stored.state, is_test=None)
    return try_write(lambda: row.update(count_in(stored), condition=is_new))


def correct(account_id: str, key: str, before: Numbers, after: Numbers) -> bool:
    """Replace the numbers of a group. Return False if they have changed. One request.

    Args:
        before: the numbers as they were loaded.
    """
    changed = {name: after[name] for name in NAMES if before[name] != after[name]}
    return replace_numbers(StatisticsRow(account_id, key), before, changed)
