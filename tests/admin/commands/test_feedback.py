"""Tests of ``feedback list|show|mark-test|delete`` and ``customer find|show``."""

import csv
import errno
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from admin import output_file
from admin.services.accounts.settings import change_account_settings
from admin.services.definitions.kinds import SURVEY, save
from admin.services.forms.manage import change_form
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.submission import ContactFormSubmission
from chalicelib.domain.forms.survey import SupportEmail
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.settings import settings
from tests.admin.command import minute, new_account, run
from tests.domain.forms.factories import select, survey
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE
from tests.services.webhooks.delivering import add_workflow
from tests.web.seeded_account import SeededAccount, seed_account


@pytest.fixture
def seeded(account: str) -> SeededAccount:
    return seed_account()


def submit(seeded: SeededAccount) -> tuple[Feedback, Feedback]:
    """Submit a contact form and a survey with a tracker, and process both."""
    contact = answer_contact_form(
        seeded, note="Very\nslow \x9b service", mail="zoe@example.test", nps="2"
    )
    survey = answer_survey(seeded, seeded.tracker(), nps="9")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    return contact, survey


def listed(account: str, *options: str) -> list[dict[str, Any]]:
    result = run("feedback", "list", account, *options, "--json")
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_list_shows_newest_feedback_first(seeded: SeededAccount) -> None:
    contact, survey = submit(seeded)
    rows = listed(seeded.account_id)
    assert [row["id"] for row in rows] == [survey.id, contact.id]
    assert rows[1] | {"id": "", "created": ""} == {
        "id": "",
        "created": "",
        "form": "Contact",
        "store": "",
        "rating": 2,
        "language": "en",
        "labels": "",
        "test": False,
        "partial": False,
        "comment": "Very slow \x9b service",
    }
    assert rows[0]["store"] == "Lyon Bellecour"
    table = run("feedback", "list", seeded.account_id).stdout
    assert contact.id in table
    assert r"Very slow \x9b service" in table


def test_list_options_select_feedback(seeded: SeededAccount) -> None:
    contact, survey = submit(seeded)
    for options, expected in (
        (("--rating", "0..6"), contact),
        (("--rating", "9"), survey),
        (("--form", seeded.contact_form_id), contact),
        (("--survey", seeded.private_survey_id), survey),
        (("--store", seeded.store_id), survey),
        (("--contains", "SLOW"), contact),
        (("--brand", seeded.brand_id, "--rating", "2", "--language", "en"), contact),
        (("--limit", "1"), survey),
    ):
        assert [row["id"] for row in listed(seeded.account_id, *options)] == [expected.id], options
    for options in (("--since", "2100-01-01"), ("--until", "2000-01-01"), ("--language", "fr")):
        assert listed(seeded.account_id, *options) == []


@pytest.mark.parametrize(
    ("option", "resource"),
    [
        ("--form", "contact form"),
        ("--survey", "survey"),
        ("--store", "store"),
        ("--brand", "brand"),
    ],
)
@pytest.mark.parametrize("command", ["list", "export"])
def test_filter_with_id_that_account_does_not_have_is_error(
    seeded: SeededAccount, tmp_path: Path, command: str, option: str, resource: str
) -> None:
    ids = {
        "--form": seeded.contact_form_id,
        "--survey": seeded.private_survey_id,
        "--store": seeded.store_id,
        "--brand": seeded.brand_id,
    }
    output = ("--output", tmp_path / "answers.csv") if command == "export" else ()
    other_account = new_account()
    for account, unknown in ((seeded.account_id, new_id()), (other_account, ids[option])):
        result = run("feedback", command, account, option, unknown, *output)
        assert result.stderr == f"Error: There is no {resource} with this id.\n"
        assert (result.exit_code, result.stdout, list(tmp_path.iterdir())) == (1, "", [])


def test_report_on_form_of_other_account_is_error(seeded: SeededAccount, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    for option, form in (
        ("--form", seeded.contact_form_id),
        ("--survey", seeded.private_survey_id),
    ):
        result = run("feedback", "report", new_account(), option, form, "--output", output)
        assert (result.exit_code, output.exists()) == (1, False)


def test_list_without_filter_sends_four_requests_and_one_per_form(seeded: SeededAccount) -> None:
    submit(seeded)
    with counted_calls() as calls:
        listed(seeded.account_id)
    assert dict(calls) == {
        "dynamodb.GetItem": 1,
        "dynamodb.Query": 4,
        "dynamodb.BatchGetItem": 1,
    }


@pytest.mark.parametrize(
    "options",
    [
        ("--rating", "7..3"),
        ("--rating", "0..11"),
        ("--rating", "good"),
        ("--since", "soon"),
        ("--since", "2026-11-32"),
        ("--since", "2026-11-20", "--until", "2026-11-19"),
        ("--language", "xx"),
        ("--time-zone", "Mars/Olympus"),
        ("--time-zone", "../etc/passwd"),
        ("--form", new_id(), "--survey", new_id()),
        ("--limit", "0"),
    ],
)
def test_invalid_option_is_usage_error(cloud: None, options: tuple[str, ...]) -> None:
    result = run("feedback", "list", new_account(), *options)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("options", [(), ("--time-zone", "Europe/Paris")])
def test_list_of_unknown_account_is_error(cloud: None, options: tuple[str, ...]) -> None:
    result = run("feedback", "list", new_id(), *options)
    assert (result.exit_code, result.stderr) == (1, "Error: There is no account with this id.\n")


def test_show_prints_answers_with_labels_in_order_of_form(seeded: SeededAccount) -> None:
    add_workflow(seeded.account_id)
    contact, _ = submit(seeded)
    shown = run("feedback", "show", contact.id).stdout
    assert [shown.index(text) for text in ("What", "Note", "Mail", "Nps")] == sorted(
        shown.index(text) for text in ("What", "Note", "Mail", "Nps")
    )
    for text in ("Contact (contact form", "DONE", "zoe@example.test", "Everything / crm", "slow"):
        assert text in shown


def test_show_prints_respondent_purchase_and_deliveries_as_json(seeded: SeededAccount) -> None:
    add_workflow(seeded.account_id)
    _, survey = submit(seeded)
    clear_caches()
    with counted_calls() as calls:
        shown = json.loads(run("feedback", "show", survey.id, "--json").stdout)
    assert sum(calls.values()) == 7
    assert shown["respondent"]["id"] == seeded.customer_id
    assert shown["purchase"]["source"] == "Site"
    assert [delivery["state"] for delivery in shown["deliveries"]] == ["PENDING"]
    assert [(answer["label"], answer["values"]) for answer in shown["answers"]] == [
        ("What", ["Food"]),
        ("Nps", ["9"]),
    ]
    assert shown["storeName"] == "Lyon Bellecour"


def test_show_keeps_answers_to_removed_fields(seeded: SeededAccount) -> None:
    contact, _ = submit(seeded)
    seeded.contact_form(fields=[])
    shown = json.loads(run("feedback", "show", contact.id, "--json").stdout)
    assert [answer["label"] for answer in shown["answers"]] == ["What", "Note", "Mail", "Nps"]


def test_show_prints_labels_and_options_that_respondent_saw(seeded: SeededAccount) -> None:
    contact, _ = submit(seeded)
    seeded.contact_form(fields=[select("what", "Rooms", id=seeded.fields["what"], label="Which?")])
    clear_caches()
    with counted_calls() as calls:
        shown = run("feedback", "show", contact.id).stdout
    assert sum(calls.values()) == 6  # with the time zone of the account
    assert "Food" in shown
    assert "What" in shown
    assert "Which?" not in shown


def test_show_of_unknown_feedback_is_error(cloud: None) -> None:
    result = run("feedback", "show", new_id())
    assert (result.exit_code, result.stderr) == (1, "Error: There is no feedback with this id.\n")


def test_mark_test_is_shown_and_can_be_undone(seeded: SeededAccount) -> None:
    contact, _ = submit(seeded)
    assert "is marked as a test" in run("feedback", "mark-test", contact.id).stderr
    assert "already marked" in run("feedback", "mark-test", contact.id).stderr
    assert "DONE (test)" in run("feedback", "show", contact.id).stdout
    assert seeded.counts[0] == 0
    undone = json.loads(run("feedback", "mark-test", contact.id, "--undo", "--json").stdout)
    assert undone == {"id": contact.id, "isTest": False, "isChanged": True}
    assert seeded.counts[0] == 1


def test_delete_requires_confirmation_and_can_be_repeated(seeded: SeededAccount) -> None:
    contact, survey = submit(seeded)
    assert run("feedback", "delete", contact.id).exit_code == 2
    assert run("feedback", "delete", contact.id, "--yes").exit_code == 0
    repeated = run("feedback", "delete", contact.id, "--yes")
    assert (repeated.exit_code, "Nothing was deleted" in repeated.stderr) == (0, True)
    (change,) = json.loads(run("account", "history", seeded.account_id, "--json").stdout)
    assert (change["subject"], change["new"]) == (f"feedback {contact.id}", "deleted")
    assert change["operator"].startswith("arn:aws:")
    assert [row["id"] for row in listed(seeded.account_id)] == [survey.id]


def test_delete_shows_feedback_before_confirmation(
    seeded: SeededAccount, questions: list[str]
) -> None:
    contact, survey = submit(seeded)
    with counted_calls() as calls:
        assert run("feedback", "delete", contact.id).exit_code == 1
    assert calls.total() == 2
    run("feedback", "delete", survey.id)
    times = [minute(row["created"]) for row in listed(seeded.account_id)]
    comment = r'"Very slow \x9b service"'
    assert questions == [
        f"Delete the feedback {contact.id}"
        f" (contact form Contact, {times[1]}, rating 2, {comment})?",
        f"Delete the feedback {survey.id} (survey Visit, {times[0]}, rating 9)?",
    ]
    with counted_calls() as calls:
        run("feedback", "delete", contact.id, "--yes")
    assert calls.total() == 4
    cost = "Cost: four AWS requests; two more without --yes."
    assert cost in run("feedback", "delete", "--help").stdout
    unknown = run("feedback", "delete", contact.id)
    assert (unknown.exit_code, unknown.stderr) == (1, "Error: There is no feedback with this id.\n")


@pytest.mark.parametrize(
    "options",
    [("--email", "ZOE@example.test"), ("--phone", "06.12.34"), ("--name", "martin")],
)
def test_customer_is_found_by_email_phone_number_and_name(
    seeded: SeededAccount, options: tuple[str, str]
) -> None:
    answer_contact_form(seeded, mail="zoe@example.test", phone="06 12 34")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    found = json.loads(run("customer", "find", seeded.account_id, *options, "--json").stdout)
    assert len(found) == 1
    shown = json.loads(run("customer", "show", seeded.account_id, found[0]["id"], "--json").stdout)
    assert shown["id"] == found[0]["id"]
    assert found[0]["id"] in run("customer", "show", seeded.account_id, found[0]["id"]).stdout


def test_customer_find_by_email_sends_three_requests(seeded: SeededAccount) -> None:
    answer_contact_form(seeded, mail="zoe@example.test")
    FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    with counted_calls() as calls:
        run("customer", "find", seeded.account_id, "--email", "zoe@example.test")
    assert sum(calls.values()) == 3


@pytest.mark.parametrize("options", [(), ("--email", "a@example.test", "--name", "a")])
def test_customer_find_with_no_or_several_options_is_rejected(
    cloud: None, options: tuple[str, ...]
) -> None:
    assert run("customer", "find", new_account(), *options).exit_code == 2


def test_unknown_customer_is_error(cloud: None) -> None:
    assert run("customer", "show", new_account(), new_id()).exit_code == 1


@pytest.mark.parametrize("file_format", ["csv", "xlsx", "jsonl"])
def test_export_writes_selected_feedback(
    seeded: SeededAccount, tmp_path: Path, file_format: str
) -> None:
    submit(seeded)
    output = tmp_path / f"answers.{file_format}"
    result = run(
        "feedback", "export", seeded.account_id, "--rating", "0..6", "--output", output, "--json"
    )
    assert json.loads(result.stdout) == {"rows": 1, "output": str(output), "format": file_format}
    assert output.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [output]
    if file_format == "csv":
        (row,) = csv.DictReader(StringIO(output.read_text("utf-8-sig"), newline=""))
        assert row["Contact: Mail [mail]"] == "zoe@example.test"
        assert row["rating"] == "2"


def test_export_reads_versions_that_pages_named_in_groups(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    requests = []
    for unknown in ("1" * 32, "2" * 32, "3" * 32, "4" * 32):
        body = {"id": seeded.contact_form_id, "version": unknown, "fields": seeded.answers(nps="2")}
        submit_feedback(parse(body, ContactFormSubmission), SubmissionMetadata())
        with counted_calls() as calls:
            run("feedback", "export", seeded.account_id, "--output", tmp_path / "answers.csv")
        requests.append(calls.total())
    assert len(set(requests[1:])) == 1


@pytest.mark.parametrize(("separator", "character"), [("semicolon", ";"), ("tab", "\t")])
def test_export_writes_the_separator_that_excel_expects(
    seeded: SeededAccount, tmp_path: Path, separator: str, character: str
) -> None:
    submit(seeded)
    output = tmp_path / "answers.csv"
    arguments = ("feedback", "export", seeded.account_id, "--separator", separator, "--output")
    assert run(*arguments, output).exit_code == 0
    with output.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file, delimiter=character)
    assert header[:2] == ["id", "createdAt"]
    assert {len(row) for row in rows} == {len(header)}
    rejected = run(*arguments, tmp_path / "answers.xlsx")
    assert (rejected.exit_code, "Only a CSV file has a separator." in rejected.stderr) == (2, True)


def test_export_of_one_form_has_only_columns_of_this_form(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    submit(seeded)
    output = tmp_path / "answers.csv"
    clear_caches()
    with counted_calls() as calls:
        run(
            "feedback",
            "export",
            seeded.account_id,
            "--survey",
            seeded.survey_id,
            "--output",
            output,
        )
    assert output.read_text("utf-8-sig").splitlines()[0].endswith("otherAnswers,otherWording")
    assert dict(calls) == {
        "dynamodb.GetItem": 1,
        "dynamodb.Query": 3,
        "dynamodb.BatchGetItem": 1,
    }


def test_failed_export_keeps_existing_file(seeded: SeededAccount, tmp_path: Path) -> None:
    output = tmp_path / "answers.csv"
    output.write_text("earlier")
    unknown = run("feedback", "export", seeded.account_id, "--form", new_id(), "--output", output)
    assert (unknown.exit_code, output.read_text()) == (1, "earlier")
    missing = run("feedback", "export", seeded.account_id, "--output", tmp_path / "no" / "a.csv")
    assert missing.exit_code == 1
    assert missing.stderr.startswith("Error: Cannot use ")
    assert len(missing.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["export", "report"])
def test_named_pipe_is_not_replaced(seeded: SeededAccount, tmp_path: Path, command: str) -> None:
    pipe = tmp_path / ("pipe.csv" if command == "export" else "pipe.html")
    os.mkfifo(pipe)
    result = run("feedback", command, seeded.account_id, "--output", pipe)
    assert (result.exit_code, pipe.is_fifo()) == (1, True)
    assert result.stderr == f"Error: Cannot use {pipe}: Not a regular file.\n"


@pytest.mark.parametrize("command", ["export", "report"])
def test_output_with_unknown_extension_is_rejected(
    seeded: SeededAccount, tmp_path: Path, command: str
) -> None:
    output = tmp_path / "answers.doc"
    result = run("feedback", command, seeded.account_id, "--output", output)
    assert (result.exit_code, output.exists()) == (2, False)
    assert "Must end with " in result.stderr


def test_export_keeps_symbolic_link(seeded: SeededAccount, tmp_path: Path) -> None:
    target, link = tmp_path / "answers-1.csv", tmp_path / "answers.csv"
    link.symlink_to(target)
    for _ in range(2):
        run("feedback", "export", seeded.account_id, "--output", link)
        assert (link.is_symlink(), target.read_bytes() != b"") == (True, True)


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_full_disk_is_reported_in_one_line(
    seeded: SeededAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    class FullDisk(BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    submit(seeded)
    monkeypatch.setattr(output_file.os, "fdopen", lambda *_: FullDisk())
    output = tmp_path / f"answers.{file_format}"
    result = run("feedback", "export", seeded.account_id, "--output", output)
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert result.stderr == f"Error: Cannot use {output}: No space left on device.\n"


def test_report_reads_statistics_forms_and_newest_responses(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    submit(seeded)
    file = tmp_path / "report.html"
    with counted_calls() as calls:
        result = run("feedback", "report", seeded.account_id, "--output", file)
    assert (result.exit_code, "on 2 response(s)" in result.stderr) == (0, True)
    # Queries: places, statistics, contact forms, surveys, ids of feedback.
    assert calls["dynamodb.Query"] == 5
    assert calls.total() == 13
    assert "From 2 of 2 responses" in file.read_text()


def test_report_is_in_language_of_account_or_of_option(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    change_account_settings(seeded.account_id, {"language": "fr"}, "operator")
    for options, lang in (((), "fr"), (("--language", "ar"), "ar"), (("--language", "en"), "en")):
        run("feedback", "report", seeded.account_id, "--output", file, *options)
        assert f'<html lang="{lang}"' in file.read_text()
    result = run("feedback", "report", seeded.account_id, "--output", file, "--language", "eu")
    assert (result.exit_code, "Must be one of ar, bg, " in result.stderr) == (2, True)


def test_report_of_store_counts_only_its_feedback(seeded: SeededAccount, tmp_path: Path) -> None:
    submit(seeded)
    options = ("--store", seeded.store_id, "--brand", seeded.brand_id)
    output = ("--output", tmp_path / "report.html")
    result = run("feedback", "report", seeded.account_id, *options, *output)
    stored = [record for record in listed(seeded.account_id) if record["store"]]
    assert f"on {len(stored)} response(s)" in result.stderr


def test_period_of_report_must_not_be_empty(seeded: SeededAccount, tmp_path: Path) -> None:
    output = ("--output", tmp_path / "report.html")
    for since, exit_code in (("2026-11-02", 2), ("2026-11-01", 0)):
        days = ("--since", since, "--until", "2026-11-01")
        result = run("feedback", "report", seeded.account_id, *days, *output)
        assert result.exit_code == exit_code
        assert ("Must not be after the end of the period." in result.stderr) == bool(exit_code)


def test_report_compares_last_30_days_with_30_days_before(
    seeded: SeededAccount, tmp_path: Path, time: Time
) -> None:
    time.ahead = datetime(2026, 11, 21, 12, tzinfo=UTC) - clock.now()
    file = tmp_path / "report.html"
    run("feedback", "report", seeded.account_id, "--output", file)
    assert "23 Oct – 21 Nov 2026" in file.read_text().replace("\N{THIN SPACE}", " ")
    assert "23 Sept – 22 Oct 2026" in file.read_text().replace("\N{THIN SPACE}", " ")


def test_report_is_sent_from_verified_address_of_account(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    submit(seeded)
    sent = ses_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"]
    to, file = ("--send", "manager@shop.example"), tmp_path / "shop.html"
    result = run("feedback", "report", seeded.account_id, *to)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "was not sent from surveys@feedback.example.com to manager@shop.example" in result.stderr
    # Not verified: help@. Verified, not the default: other@.
    for name, is_verified, is_default in (("help", 0, 1), ("other", 1, 0), ("shop", 1, 1)):
        flags = {"dkimVerified": bool(is_verified), "returnPathVerified": True}
        email = {"email": f"{name}@shop.example", "default": bool(is_default)} | flags
        saved = save(SURVEY, seeded.account_id, survey(id=new_id(), name=name))
        address = SupportEmail(id=new_id(), created_at="", updated_at="", **email)
        change_form(
            FormKind.SURVEY,
            saved.id,
            lambda form, a=address: form.model_copy(update={"support_email": a}),
        )
    sent.verify_email_identity("shop@shop.example")
    options = (*to, "--output", file, "--store", seeded.store_id)
    result = run("feedback", "report", seeded.account_id, *options)
    assert result.exit_code == 0, result.stderr
    message = message_from_bytes(sent.sent_messages[-1].raw_data.encode(), policy=default)
    assert message["From"].addresses[0].addr_spec == "shop@shop.example"
    (attachment,) = message.iter_attachments()
    assert attachment.get_filename() == "shop.html"
    assert attachment.get_content().splitlines() == file.read_text().splitlines()
    body = message.get_body(("plain",)).get_content()
    assert "Nothing changed clearly." in body
    assert "Responses 1" in body


@pytest.mark.parametrize("address", ["manager", "a b@shop.example", "x@y@", ""])
def test_report_is_not_sent_to_invalid_address(seeded: SeededAccount, address: str) -> None:
    result = run("feedback", "report", seeded.account_id, "--send", address)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.endswith(f" to {address}: invalid address.\n")


def test_report_needs_output_or_address(seeded: SeededAccount) -> None:
    result = run("feedback", "report", seeded.account_id)
    assert (result.exit_code, "Is required without --send." in result.stderr) == (2, True)


def test_report_needs_sender(seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    without = replace(settings(), mail_sender="")
    monkeypatch.setattr("admin.services.feedback.report.send.settings", lambda: without)
    result = run("feedback", "report", seeded.account_id, "--send", "a@shop.example")
    message = "Error: The account has no verified sender, and MAIL_SENDER is not set.\n"
    assert (result.exit_code, result.stderr) == (1, message)
