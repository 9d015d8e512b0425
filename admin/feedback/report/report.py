"""Write a report on an account's feedback of a period."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from admin.feedback.output_file import replaced_file
from admin.feedback.report.figures import Breakdown, Figures, previous_start
from admin.feedback.report.page import Scope, render_report
from admin.services.feedback.selection import selected_form
from admin.services.forms.manage import list_forms
from admin.services.solicitation.sent_surveys import find_sent_surveys
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.accounts.settings import current_settings
from chalicelib.services.feedback.find import find_feedback


def write_report(
    account_id: str,
    wanted: FeedbackFilter,
    period: tuple[datetime, datetime],
    breakdowns: Sequence[Breakdown],
    zone: ZoneInfo,
    output: Path,
    on_read: Callable[[int], None],
) -> int:
    """Write the report to an HTML file. Return the number of responses in the period.

    Args:
        wanted: selects the form or the survey of the report.
        on_read: called with the number of feedback records or sent surveys of each group that was
            read.

    Raises:
        NotFound: the account does not exist or has no such form.
        OSError: the file cannot be written.
    """
    since, until = period
    scope = Scope(
        current_settings(account_id).name,
        previous_start(since, until, zone),
        since,
        until,
        _form_name(account_id, wanted),
        current_directory(account_id),
        _survey_names(account_id) if Breakdown.SURVEY in breakdowns else {},
    )

    def figures(start: datetime, end: datetime) -> Figures:
        collected = Figures(zone, breakdowns)
        of_period = replace(wanted, since=start, until=end)
        for stored in find_feedback(account_id, of_period, on_read=on_read):
            collected.add(stored)
        return collected

    current, previous = figures(since, until), figures(scope.previous_since, since)
    if not wanted.form_id:  # Only surveys are sent.
        for survey in find_sent_surveys(
            account_id,
            scope.previous_since,
            until,
            survey_id=wanted.survey_id,
            on_read=on_read,
        ):
            (current if survey.sent_at >= since else previous).add_sent(survey)
    with replaced_file(output) as file:
        file.write(render_report(scope, current, previous).encode())
    return current.total.responses


def _form_name(account_id: str, wanted: FeedbackFilter) -> str | None:
    form = selected_form(account_id, wanted)
    return form.saved.name if form else None


def _survey_names(account_id: str) -> dict[str, str]:
    return {form.saved.id: form.saved.name for form in list_forms(account_id, FormKind.SURVEY)}
