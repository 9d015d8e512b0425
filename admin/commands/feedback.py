"""The command ``feedback``: list, show, export, report on, mark and delete feedback."""

import re
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer

from admin.display.feedback import show_description, show_list, summary_of
from admin.domain.feedback_filter import FeedbackFilter
from admin.identity import operator_identity
from admin.options import (
    AccountArgument,
    WideOption,
    YesOption,
    example,
    id_argument,
    in_zone,
    limit_option,
    name_option,
    parse_time,
    report_language,
    show_times_of,
)
from admin.output_file import replaced_file
from admin.services.accounts.settings import current_settings
from admin.services.feedback.exclude import delete_feedback, mark_test
from admin.services.feedback.export.export import export_feedback
from admin.services.feedback.export.writers import Format, Separator
from admin.services.feedback.find import describe_feedback, find_feedback
from admin.services.feedback.report.figures import Period
from admin.services.feedback.republish import republish_feedback
from admin.services.feedback.selection import require_selection
from admin.services.forms.select import form_id_of, place_id_of
from admin.terminal import confirm, notices, progress, set_time_zone, show_record
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.feedback.daily import FEEDBACK
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.language import Language

_RANGE: Final = re.compile(r"(\d{1,2})(?:\.\.(\d{1,2}))?")
_HIGHEST: Final = 10
_REPORT_PERIOD: Final = timedelta(days=29)

app = typer.Typer(
    help="List, show, export, report on, mark and delete feedback.", no_args_is_help=True
)


def parse_rating(text: str) -> tuple[int, int]:
    """Parse a rating or a range of ratings: ``7`` or ``0..6``.

    Raises:
        BadParameter: the text is neither, or the range is empty.
    """
    match = _RANGE.fullmatch(text.strip())
    if match:
        lowest = int(match[1])
        highest = int(match[2]) if match[2] else lowest
        if lowest <= highest <= _HIGHEST:
            return lowest, highest
    raise typer.BadParameter("Must be a number from 0 to 10, or a range such as 0..6.")


def parse_zone(name: str) -> ZoneInfo:
    """Parse the name of a time zone.

    Raises:
        BadParameter: there is no time zone with this name.
    """
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise typer.BadParameter("Must be a time zone, such as Europe/Paris.") from None


def zone_of(account_id: str, chosen: ZoneInfo | None) -> ZoneInfo:
    """Return the chosen time zone, by default the account's, and show times in it.

    One AWS request.

    Raises:
        NotFound: the account does not exist.
    """
    settings = current_settings(account_id)
    zone = chosen or ZoneInfo(settings.time_zone)
    set_time_zone(lambda: zone)
    return zone


def _day(text: str) -> date:
    entered, is_date = parse_time(text)
    if not is_date:
        raise typer.BadParameter("Must be a date, such as 2026-11-30.")
    return entered.date()


def _language(text: str) -> str:
    if text not in list(Language):
        raise typer.BadParameter("Must be a language code, such as fr.")
    return text


FeedbackArgument = Annotated[str, id_argument("The feedback's id.")]
FormOption = Annotated[str | None, name_option("Only feedback of this contact form.")]
SurveyOption = Annotated[str | None, name_option("Only feedback of this survey.")]
StoreOption = Annotated[str | None, name_option("Only feedback on this store.")]
BrandOption = Annotated[str | None, name_option("Only feedback on this brand.")]
RatingOption = Annotated[
    Any,
    typer.Option(
        help="Only feedback with this rating, or with a rating in a range such as 0..6.",
        parser=parse_rating,
        metavar="RATING",
    ),
]
SinceOption = Annotated[
    Any,
    typer.Option(
        help="The start of the period: a date or a date-time.", parser=parse_time, metavar="TIME"
    ),
]
UntilOption = Annotated[
    Any,
    typer.Option(
        help="The end of the period: a date (included) or a date-time (excluded).",
        parser=parse_time,
        metavar="TIME",
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(help="Only feedback in this language.", parser=_language, metavar="CODE"),
]
ContainsOption = Annotated[
    str | None,
    typer.Option(
        help="Only feedback with an answer that contains this text. Case is ignored.",
        metavar="TEXT",
    ),
]
ZoneOption = Annotated[
    Any,
    typer.Option(
        help="The time zone of dates and times.  [default: the account's]",
        parser=parse_zone,
        metavar="ZONE",
    ),
]


def parse_period(
    since: tuple[datetime, bool] | None, until: tuple[datetime, bool] | None, zone: ZoneInfo
) -> tuple[datetime | None, datetime | None]:
    """Return the start and the end of the period that the options describe.

    Raises:
        BadParameter: the period is empty.
    """
    start = in_zone(since[0], zone) if since else None
    end = None
    if until:
        entered, is_date = until
        end = in_zone(entered + timedelta(days=1) if is_date else entered, zone)
    if start and end and start >= end:
        raise typer.BadParameter("Must be after --since.", param_hint="--until")
    return start, end


def build_filter(
    account_id: str,
    since: tuple[datetime, bool] | None,
    until: tuple[datetime, bool] | None,
    zone: ZoneInfo,
    *,
    form: str | None,
    survey: str | None,
    store: str | None,
    brand: str | None,
    **properties: Any,
) -> FeedbackFilter:
    """Return the filter that the options describe. See `form_id_of` and `place_id_of`.

    Args:
        properties: the other properties of `FeedbackFilter`.

    Raises:
        BadParameter: the period is invalid, or both a form and a survey are selected.
    """
    if form and survey:
        raise typer.BadParameter("Use either --form or --survey.", param_hint="--survey")
    start, end = parse_period(since, until, zone)
    return FeedbackFilter(
        since=start,
        until=end,
        form_id=form_id_of(account_id, FormKind.CONTACT_FORM, form) if form else None,
        survey_id=form_id_of(account_id, FormKind.SURVEY, survey) if survey else None,
        store_id=place_id_of(account_id, PlaceKind.STORE, store) if store else None,
        brand_id=place_id_of(account_id, PlaceKind.BRAND, brand) if brand else None,
        **properties,
    )


@app.command("list", epilog=example("feedback list ACCOUNT --rating 0..6 --since 2026-11-01"))
def list_feedback(
    account: AccountArgument,
    form: FormOption = None,
    survey: SurveyOption = None,
    store: StoreOption = None,
    brand: BrandOption = None,
    rating: RatingOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    language: LanguageOption = None,
    contains: ContainsOption = None,
    time_zone: ZoneOption = None,
    limit: Annotated[int, limit_option("feedback records", 1000)] = 50,
    _wide: WideOption = False,
) -> None:
    """List an account's feedback, newest first.

    Cost: four AWS requests, one per form in the list, and one with --form or --survey. If a filter
    other than the period is set, the command also sends one request per 100 feedback records of the
    period, until enough match.
    """
    zone = zone_of(account, time_zone)
    wanted = build_filter(
        account,
        since,
        until,
        zone,
        form=form,
        survey=survey,
        store=store,
        brand=brand,
        ratings=rating,
        language=language,
        text=contains,
    )
    _, directory = require_selection(account, wanted)
    with progress("Reading feedback") as advance:
        found = list(
            find_feedback(account, wanted, newest_first=True, at_most=limit, on_read=advance)
        )
    show_list(directory, found)


@app.command(
    epilog=example(
        "feedback export ACCOUNT --since 2026-11-01 --format xlsx --output november.xlsx",
        "feedback export ACCOUNT --form ID --time-zone Europe/Paris --output answers.csv",
    )
)
def export(
    account: AccountArgument,
    output: Annotated[Path, typer.Option(dir_okay=False, help="The file to write.")],
    form: FormOption = None,
    survey: SurveyOption = None,
    store: StoreOption = None,
    brand: BrandOption = None,
    rating: RatingOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    language: LanguageOption = None,
    contains: ContainsOption = None,
    time_zone: ZoneOption = None,
    file_format: Annotated[
        Format | None,
        typer.Option("--format", help="The format.  [default: the extension of the file]"),
    ] = None,
    separator: Annotated[
        Separator | None,
        typer.Option(
            help="The separator of a CSV file. Excel expects the one of its language: semicolon in"
            " most of Europe.  [default: comma]"
        ),
    ] = None,
) -> None:
    """Export an account's feedback to a file, oldest first, with one column per field.

    Answers to fields that have been removed from the forms are in the column otherAnswers. If the
    respondent saw another wording, the column otherWording has the label and the options.
    docs/operating.md describes how programs read the files.

    Cost: up to nine AWS requests, plus one per form and one per earlier version of a form with
    feedback, and one per 100 feedback records of the period.
    """
    zone = zone_of(account, time_zone)
    wanted = build_filter(
        account,
        since,
        until,
        zone,
        form=form,
        survey=survey,
        store=store,
        brand=brand,
        ratings=rating,
        language=language,
        text=contains,
    )
    chosen = file_format or _format_of(output)
    if separator and chosen is not Format.CSV:
        raise typer.BadParameter("Only a CSV file has a separator.", param_hint="--separator")
    with progress("Exporting feedback") as advance:
        rows = export_feedback(
            account, wanted, chosen, zone, output, advance, separator or Separator.COMMA
        )
    notices().print(f"Exported {rows} feedback record(s) to {output}.")
    show_record({"rows": rows, "output": str(output), "format": chosen.value})


@app.command(
    epilog=example(
        "feedback report ACCOUNT --output report.html",
        "feedback report ACCOUNT --since 2026-01-01 --brand ID --output year.html",
        "feedback report ACCOUNT --language fr --output rapport.html",
        "feedback report ACCOUNT --store ID --send manager@shop.example",
    )
)
def report(
    account: AccountArgument,
    output: Annotated[
        Path | None, typer.Option(dir_okay=False, help="The HTML file to write.")
    ] = None,
    send: Annotated[
        str | None,
        typer.Option(
            metavar="EMAIL",
            help="Send the report to this address, from the sender of the account's surveys.",
        ),
    ] = None,
    form: FormOption = None,
    survey: SurveyOption = None,
    store: StoreOption = None,
    brand: BrandOption = None,
    since: Annotated[
        Any, typer.Option(help="The first day of the period.", metavar="DATE", parser=_day)
    ] = None,
    until: Annotated[
        Any, typer.Option(help="The last day of the period.", metavar="DATE", parser=_day)
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="The language of the report.  [default: the account's]",
            parser=report_language,
        ),
    ] = None,
) -> None:
    """Write a report on an account's feedback to one HTML file without scripts, or send it.

    The report starts with the stores whose score or mean rating has changed since the previous
    period of the same length, and the reasons. By default, the period is the last 30 days. Days are
    in the account's time zone. Test responses are excluded.

    Cost: up to seven AWS requests, plus one per MB (about 4,000 days of a store and a form) of both
    periods, three per 100 forms of the account, and two per 100 responses: the newest 5,000, or all
    of both periods if a store has clearly changed. With --send two, and three per 100 surveys.
    """
    # The formats of languages take a tenth of a second to import.
    from admin.services.feedback.report.report import build_report
    from admin.services.feedback.report.send import send_report

    if output is None and send is None:
        raise typer.BadParameter("Is required without --send.", param_hint="--output")
    if output and output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter("Must end with .html.", param_hint="--output")
    zone = zone_of(account, None)
    wanted = build_filter(
        account, None, None, zone, form=form, survey=survey, store=store, brand=brand
    )
    last: date = until or clock.now().astimezone(zone).date()
    first: date = since or last - _REPORT_PERIOD
    if first > last:
        raise typer.BadParameter("Must not be after the end of the period.", param_hint="--since")
    with progress("Reading feedback") as advance:
        chosen = Language(language) if language else None
        built = build_report(account, wanted, Period(first, last), chosen, advance)
    responses = built.now.total[FEEDBACK]
    if output:
        with replaced_file(output) as file:
            file.write(built.html().encode())
        notices().print(f"Wrote a report on {responses} response(s) to {output}.")
    if send is not None:
        send_report(account, built, send, output.name if output else "report.html")
        notices().print(f"Sent a report on {responses} response(s) to {send}.")
    show_record({"responses": responses, "output": output and str(output), "sentTo": send})


def _format_of(output: Path) -> Format:
    extension = output.suffix.removeprefix(".").lower()
    if extension not in list(Format):
        allowed = ", ".join(f".{name}" for name in Format)
        raise typer.BadParameter(
            f"Must end with {allowed}, or add --format.", param_hint="--output"
        )
    return Format(extension)


@app.command("show", epilog=example("feedback show ID"))
def show_feedback(feedback: FeedbackArgument) -> None:
    """Show a feedback record: answers, respondent, purchase and webhook deliveries.

    The answers are in the order of the form's fields. Deliveries of deleted workflows are omitted.

    Cost: at most seven AWS requests.
    """
    description = describe_feedback(feedback)
    show_times_of(description.stored.feedback.account_id)
    show_description(description)


@app.command("mark-test", epilog=example("feedback mark-test ID", "feedback mark-test ID --undo"))
def mark_test_response(
    feedback: FeedbackArgument,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the mark.")] = False,
) -> None:
    """Mark a feedback record as a test response.

    Test responses are excluded from reports, and from the counts of the form and of the customer.

    Cost: three AWS requests.
    """
    is_changed = mark_test(feedback, is_test=not undo)
    state = "not marked as a test" if undo else "marked as a test"
    notices().print(f"The feedback is {'' if is_changed else 'already '}{state}.")
    show_record({"id": feedback, "isTest": not undo, "isChanged": is_changed})


@app.command("delete", epilog=example("feedback delete ID --yes"))
def delete(feedback: FeedbackArgument, yes: YesOption = False) -> None:
    """Delete a feedback record, and subtract it from the counts of the form and of the customer.

    Before the confirmation, the command shows the record. With --yes, the command also succeeds if
    the record does not exist, so that scripts can repeat it safely.

    Cost: four AWS requests; two more without --yes.
    """
    confirm(lambda: f"Delete {summary_of(feedback)}?", is_confirmed=yes)
    is_deleted = delete_feedback(feedback, operator_identity())
    notices().print(
        f"Deleted the feedback {feedback}."
        if is_deleted
        else f"There is no feedback with the id {feedback}. Nothing was deleted."
    )
    show_record({"id": feedback, "isDeleted": is_deleted})


@app.command(epilog=example("feedback republish ACCOUNT"))
def republish(account: AccountArgument) -> None:
    """Add all feedback of an account to the feed of changes that partners read.

    Run the command once for each account after a restore. You can repeat it: partners read the
    feedback again.

    Cost: four AWS requests, three per 99 feedback records, and one per 350 entries of the feed.
    """
    with progress("Adding feedback") as advance:
        published, gaps = republish_feedback(account, advance)
    notices().print(f"Added {published} feedback record(s) to the feed.")
    show_record({"feedback": published, "closedGaps": gaps})
