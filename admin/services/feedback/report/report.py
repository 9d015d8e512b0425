"""Write a report on an account's feedback of a period."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from admin.domain.feedback_filter import FeedbackFilter
from admin.output_file import replaced_file
from admin.services.accounts.settings import current_settings
from admin.services.feedback.find import find_feedback
from admin.services.feedback.report.figures import MAX_READ, Details, Figures, Period
from admin.services.feedback.report.page import Report, Scope
from admin.services.feedback.report.words import ReportWords
from admin.services.feedback.selection import require_selection
from admin.services.forms.manage import list_forms
from chalicelib.domain.feedback.daily import FEEDBACK
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.language import Language
from chalicelib.services.feedback.statistics import daily_numbers


def write_report(
    account_id: str,
    wanted: FeedbackFilter,
    period: Period,
    language: Language | None,
    output: Path,
    on_read: Callable[[int], None],
) -> int:
    """Write the report to an HTML file. Return the number of responses in the period.

    AWS requests: four, one per MB of the statistics of both periods, three per 100 forms, and up
    to `MAX_READ` / 100 for the newest responses.

    Args:
        wanted: selects the form or the survey, the store and the brand.
        language: the language of the report; None for the account's.
        on_read: called with the number of feedback records of each group that was read.

    Raises:
        NotFound: the account does not exist, or has no such form, store or brand.
        OSError: the file cannot be written.
    """
    settings = current_settings(account_id)
    form, directory = require_selection(account_id, wanted)
    forms = [form] if form else [each for kind in FormKind for each in list_forms(account_id, kind)]
    zone = ZoneInfo(settings.time_zone)
    current, previous = Figures(), Figures()
    for group, numbers in daily_numbers(account_id, period.previous.first, period.last):
        if wanted.selects(group):
            is_current = group.day >= period.first.isoformat()
            (current if is_current else previous).add(group, numbers)
    words = ReportWords(language or settings.language)
    details = Details.of(forms, words.language, words.option_names)
    of_period = FeedbackFilter(
        since=_start(period.first, zone), until=_start(period.last + timedelta(days=1), zone)
    )
    newest = find_feedback(
        account_id, of_period, newest_first=True, at_most=MAX_READ, on_read=on_read
    )
    for stored in newest:
        details.add(stored, replace(wanted, since=None, until=None))
    places = (directory.name_of(each) for each in (wanted.brand_id, wanted.store_id) if each)
    names = {(each.kind, each.saved.id): each.saved.name for each in forms}
    scope = Scope(
        settings.name,
        period,
        zone,
        ", ".join([*([form.saved.name] if form else []), *places]),
        directory,
        names,
    )
    with replaced_file(output) as file:
        file.write(Report(words, scope, current, previous, details).html().encode())
    return current.total[FEEDBACK]


def _start(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
