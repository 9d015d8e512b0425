"""Build a report on an account's feedback of a period."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.accounts.settings import current_settings
from admin.services.feedback.find import find_feedback
from admin.services.feedback.report.changes import Group, Verdict, compare
from admin.services.feedback.report.figures import Details, Figures, Period, questions_of
from admin.services.feedback.report.page import Report, Scope
from admin.services.feedback.report.words import ReportWords
from admin.services.feedback.selection import require_selection
from admin.services.forms.manage import list_forms
from chalicelib.domain.feedback.daily import FEEDBACK, DailyGroup, Numbers
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.language import Language
from chalicelib.services.feedback.statistics import daily_numbers

MAX_READ: Final = 5_000
"""The number of newest responses of a period that are read, and of those of the changed groups."""

_MAX_REASONS: Final = 10


def build_report(
    account_id: str,
    wanted: FeedbackFilter,
    period: Period,
    language: Language | None,
    on_read: Callable[[int], None],
) -> Report:
    """Return the report.

    AWS requests: four, one per MB of the statistics of both periods, three per 100 forms, and one
    per 5,000 ids, per 100 groups of responses and per 100 responses that are read: up to `MAX_READ`
    of the period, and as many of each period of the groups that have clearly changed. Responses
    are selected after the filter and by group, so small groups keep theirs.

    Args:
        wanted: selects the form or the survey, the store and the brand.
        language: the language of the report; None for the account's.
        on_read: called with the number of responses of each group that was read.

    Raises:
        NotFound: the account does not exist, or has no such form, store or brand.
    """
    settings = current_settings(account_id)
    form, directory = require_selection(account_id, wanted)
    forms = [form] if form else [each for kind in FormKind for each in list_forms(account_id, kind)]
    current, previous = Figures(), Figures()
    for group, numbers in daily_numbers(account_id, period.previous.first, period.last):
        if wanted.selects(group):
            is_current = group.day >= period.first.isoformat()
            (current if is_current else previous).add(group, numbers)
    words = ReportWords(language or settings.language)
    now, before = _compared(current, previous)
    changes = compare(now, before)
    clear = [each for each in changes if each.verdict in (Verdict.WORSE, Verdict.BETTER)]
    share = MAX_READ // max(min(len(clear), _MAX_REASONS), 1)

    def details(of: Period, group: Group | None, numbers: Numbers, at_most: int) -> Details:
        questions = questions_of(forms, words.language, words.option_names)
        return Details(of, group, numbers[FEEDBACK], at_most, questions)

    overall = details(period, None, current.total, MAX_READ)
    reasons = [
        (
            change,
            details(period, change.group, now[change.group], share),
            details(period.previous, change.group, before[change.group], share),
        )
        for change in clear[:_MAX_REASONS]
    ]
    zone = ZoneInfo(settings.time_zone)
    # The account may have changed its time zone. The statistics keep the days of the earlier one.
    since, until = period.previous.first - timedelta(days=1), period.last + timedelta(days=2)
    chapters = [overall, *(each for _, *both in reasons for each in both)]
    found = find_feedback(
        account_id,
        FeedbackFilter(since=_start(since, zone), until=_start(until, zone)),
        newest_first=True,
        on_read=on_read,
        is_needed=lambda group: wanted.selects(group) and any(c.needs(group) for c in chapters),
    )
    while not all(chapter.is_complete for chapter in chapters) and (stored := next(found, None)):
        for chapter in chapters:
            if stored.counted_as and chapter.needs(DailyGroup.parse(stored.counted_as)):
                chapter.add(stored.feedback)
    places = (directory.name_of(each) for each in (wanted.brand_id, wanted.store_id) if each)
    names: dict[Group, str] = {(each.kind, each.saved.id): each.saved.name for each in forms}
    filters = ", ".join([*([form.saved.name] if form else []), *places])
    scope = Scope(settings.name, period, zone, filters, directory, names)
    return Report(words, scope, current, previous, overall, changes, reasons)


def _compared(now: Figures, before: Figures) -> tuple[dict[Group, Numbers], dict[Group, Numbers]]:
    """Return the numbers of the stores, or of the forms if there is only one store."""
    by_form = len({*now.stores, *before.stores}) < 2 and len({*now.forms, *before.forms}) > 1
    return (now.forms, before.forms) if by_form else (now.stores, before.stores)


def _start(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
