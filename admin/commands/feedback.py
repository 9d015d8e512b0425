"""The command ``feedback``: list, show, export, report on, mark and delete feedback."""

from typing import Annotated

import typer

from admin.commands.account import AccountArgument
from admin.commands.feedback_options import (
    BrandOption,
    ContainsOption,
    FeedbackArgument,
    FormOption,
    LanguageOption,
    RatingOption,
    SinceOption,
    StoreOption,
    SurveyOption,
    UntilOption,
    ZoneOption,
    build_filter,
)
from admin.feedback.description import show_description
from admin.feedback.rows import show_list
from admin.options import YesOption, example
from admin.terminal import confirm, counter, notices, show
from chalicelib.services.accounts.manage import require_account
from chalicelib.services.feedback.describe import describe_feedback
from chalicelib.services.feedback.exclude import delete_feedback, mark_test
from chalicelib.services.feedback.find import find_feedback

app = typer.Typer(help="Read, export and exclude feedback.", no_args_is_help=True)


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
    limit: Annotated[
        int, typer.Option(help="The maximum number of feedback records.", min=1, max=1000)
    ] = 50,
) -> None:
    """List an account's feedback, newest first.

    Cost: four AWS requests and one per form in the list. With a filter other than the period, one
    more per 100 feedback records, until enough records match or the period ends.
    """
    wanted = build_filter(
        since,
        until,
        time_zone,
        form_id=form,
        survey_id=survey,
        store_id=store,
        brand_id=brand,
        ratings=rating,
        language=language,
        text=contains,
    )
    require_account(account)
    with counter("Reading feedback") as advance:
        found = list(
            find_feedback(account, wanted, newest_first=True, at_most=limit, on_read=advance)
        )
    show_list(account, found)


@app.command("show", epilog=example("feedback show ID"))
def show_feedback(feedback: FeedbackArgument) -> None:
    """Show a feedback record: answers, respondent, purchase and webhook deliveries.

    The answers are in the order of the form's fields. Deliveries of deleted workflows are omitted.

    Cost: at most seven AWS requests.
    """
    show_description(describe_feedback(feedback))


@app.command("mark-test", epilog=example("feedback mark-test ID", "feedback mark-test ID --undo"))
def mark_test_response(
    feedback: FeedbackArgument,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the mark.")] = False,
) -> None:
    """Mark a feedback record as a test response.

    Reports and the counts of the form and of the customer exclude test responses.

    Cost: three AWS requests.
    """
    is_changed = mark_test(feedback, is_test=not undo)
    state = "not marked as a test" if undo else "marked as a test"
    notices().print(f"The feedback is {'' if is_changed else 'already '}{state}.")
    show({"id": feedback, "isTest": not undo, "isChanged": is_changed})


@app.command("delete", epilog=example("feedback delete ID --yes"))
def delete(feedback: FeedbackArgument, yes: YesOption = False) -> None:
    """Delete a feedback record. The counts of the form and of the customer follow.

    Deleting a record that does not exist succeeds, so that you can repeat the command.

    Cost: three AWS requests.
    """
    confirm(f"Delete the feedback {feedback}?", is_confirmed=yes)
    is_deleted = delete_feedback(feedback)
    notices().print(
        f"Deleted the feedback {feedback}."
        if is_deleted
        else f"There is no feedback with the id {feedback}. Nothing was deleted."
    )
    show({"id": feedback, "isDeleted": is_deleted})
