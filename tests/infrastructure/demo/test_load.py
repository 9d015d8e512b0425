"""Tests of loading the demo data."""

import json
import logging
import shlex
import stat
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.webhooks.secret import signing_webhook_secrets
from chalicelib.domain import clock
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.workflows.workflow import reactions
from chalicelib.services.accounts.authenticate import authenticate
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.read import read_customer
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms.cached_forms import get_survey
from chalicelib.services.purchases.read import read_purchase
from chalicelib.storage import places, statistics, trackers
from chalicelib.storage.forms import contact_forms, surveys
from chalicelib.storage.trackers import TrackerRow
from infrastructure.demo.description import DemoDescription
from infrastructure.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT
from infrastructure.demo.load import load
from infrastructure.demo.workflows import main_workflows
from tests.admin.command import run

pytestmark = pytest.mark.usefixtures("cloud")

BASE_URL = "http://127.0.0.1:4566/api"
ADDRESSES = ("https://hooks.example.com/feedback", "http://127.0.0.1:4566/_local/messages")
DEMO_FILE_FIELDS = (
    "baseUrl accountId apiKey apiSecret webhookSecret brandId storeIds contactFormId surveyId"
    " privateSurveyId trackers purchaseId customerId contactFormPage surveyPage rtlSurveyPage"
    " mailbox other"
).split()
OTHER_ACCOUNT_FIELDS = (
    "apiKey apiSecret customerId purchaseId contactFormId surveyId storeId".split()
)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "state" / "demo.json"


def demo(output: Path, base_url: str = BASE_URL) -> Any:
    clear_caches()
    load(base_url, output, *ADDRESSES)
    return json.loads(output.read_text())


def all_rows() -> dict[str, list[Any]]:
    tables = boto3.resource("dynamodb").tables.iterator()
    return {table.name: sorted(scan(table), key=repr) for table in tables}


def scan(table: Any) -> list[Any]:
    pages = table.meta.client.get_paginator("scan").paginate(TableName=table.name)
    return [row for page in pages for row in page["Items"]]


def test_demo_file_contains_ids_and_credentials_of_stored_data(output: Path) -> None:
    demo_file = demo(output)
    account, other = demo_file["accountId"], demo_file["other"]
    assert list(demo_file) == DEMO_FILE_FIELDS
    assert list(other) == OTHER_ACCOUNT_FIELDS
    assert (demo_file["baseUrl"], account) == (BASE_URL, MAIN_ACCOUNT)
    assert authenticate(demo_file["apiKey"], demo_file["apiSecret"]).account_id == account
    assert authenticate(other["apiKey"], other["apiSecret"]).account_id == OTHER_ACCOUNT
    assert signing_webhook_secrets(account, clock.now())[0] == demo_file["webhookSecret"]
    stores = places.load_directory(account).stores_of(demo_file["brandId"])
    assert sorted(demo_file["storeIds"]) == sorted(store.id for store in stores)
    customer = read_customer(account, demo_file["customerId"])
    purchase = read_purchase(account, demo_file["purchaseId"])
    assert all((customer.tags, customer.attributes, customer.metadata, purchase.attributes))
    assert purchase.customer == customer
    for owner, ids in ((account, demo_file), (OTHER_ACCOUNT, other)):
        for form in (
            contact_forms.find(ids["contactFormId"]),
            surveys.find(ids["surveyId"]),
        ):
            assert form
            assert form.account_id == owner
    assert read_customer(OTHER_ACCOUNT, other["customerId"])
    assert read_purchase(OTHER_ACCOUNT, other["purchaseId"]).store_id == other["storeId"]


def test_low_rating_without_store_matches_workflow_for_unhappy_guests(output: Path) -> None:
    demo_file = demo(output)
    survey = get_survey(demo_file["surveyId"])
    field_ids = {field.key: field.id for field in survey.saved.fields}
    answers = {"nps": "3", "improve": "Food"}
    submission = SurveySubmission.model_validate(
        {
            "id": demo_file["surveyId"],
            "fields": [{"id": field_ids[key], "values": [answers[key]]} for key in answers],
        }
    )
    feedback = submit_feedback(submission, SubmissionMetadata())
    workflows = [
        build_workflow(parse_workflow_definition(definition, allow_private=True), clock.now())
        for definition in main_workflows("http://127.0.0.1:8080/webhooks")
    ]
    started = {workflow.name for workflow, _ in reactions(workflows, feedback)}
    assert started == {"Rated visits", "Unhappy guests"}


def test_each_demo_tracker_has_private_survey_and_store(output: Path) -> None:
    demo_file = demo(output)
    assert len(set(demo_file["trackers"])) >= 20
    for tracker_id in demo_file["trackers"]:
        tracker = trackers.find(tracker_id)
        assert tracker
        assert tracker.survey_id == demo_file["privateSurveyId"]
        assert tracker.used_at is None
        assert places.load_directory(MAIN_ACCOUNT).store(tracker.store_id)
        assert read_purchase(MAIN_ACCOUNT, tracker.purchase_id).store_id == tracker.store_id


def test_second_demo_run_changes_nothing(output: Path) -> None:
    demo_file, before = demo(output), all_rows()
    assert demo(output) == demo_file
    assert all_rows() == before


def test_second_demo_run_updates_base_url_in_demo_file(output: Path) -> None:
    demo_file = demo(output)
    moved = "http://127.0.0.1:4777/api"
    pages = ("contactFormPage", "surveyPage", "rtlSurveyPage")
    assert demo(output, moved) == demo_file | {"baseUrl": moved} | {
        name: demo_file[name].replace(BASE_URL, moved) for name in pages
    }


def test_second_demo_run_creates_missing_records(output: Path) -> None:
    demo(output)
    boto3.resource("dynamodb").Table("feedback-test-trackers").delete_item(
        Key={"tracker_id": json.loads(output.read_text())["trackers"][-1]}
    )
    counted = {name: len(rows) for name, rows in all_rows().items()}
    assert len(demo(output)["trackers"]) == 24
    counted["feedback-test-trackers"] += 1
    assert {name: len(rows) for name, rows in all_rows().items()} == counted


def test_second_demo_run_replaces_used_trackers(output: Path) -> None:
    first, *others = demo(output)["trackers"]
    TrackerRow(first).update([TrackerRow.used_at.set(datetime(2100, 1, 1, tzinfo=UTC))])
    replaced_trackers = demo(output)["trackers"]
    assert replaced_trackers[:23] == others
    assert replaced_trackers[23] not in (first, *others)


def test_demo_run_without_demo_file_issues_new_credentials(output: Path) -> None:
    first = demo(output)
    output.write_text("{}")
    second = demo(output)
    assert second["apiKey"] != first["apiKey"]
    assert authenticate(second["apiKey"], second["apiSecret"]).account_id == MAIN_ACCOUNT


def test_demo_run_replaces_invalid_credentials(output: Path) -> None:
    first = demo(output)
    output.write_text(json.dumps(first | {"apiSecret": "wrong", "webhookSecret": "old"}))
    second = demo(output)
    assert authenticate(second["apiKey"], second["apiSecret"]).account_id == MAIN_ACCOUNT
    assert signing_webhook_secrets(MAIN_ACCOUNT, clock.now())[0] == second["webhookSecret"]
    assert second["other"] == first["other"]


def test_demo_feedback_is_counted_and_starts_no_workflow(output: Path) -> None:
    demo(output)
    rows = all_rows()
    feedback = [row for row in rows["feedback-test-feedback"] if "input_hash" in row]
    assert len(feedback) > 380
    assert {row["state"] for row in feedback} == {"DONE"}
    assert rows["feedback-test-executions"] == []
    assert any("customer_id" in row for row in feedback)
    submitted = Counter(row["form_id"] for row in feedback)
    for form_id, number in submitted.items():
        form = surveys.find(form_id) or contact_forms.find(form_id)
        assert form
        assert form.submission_count == number


def test_demo_surveys_are_sent_and_some_of_them_answered(output: Path) -> None:
    demo(output)
    rows = all_rows()
    of_surveys = [row for row in rows["feedback-test-trackers"] if "counted_as" in row]
    used = [row for row in of_surveys if "used_at" in row]
    assert all(row["created_at"] < row["used_at"] for row in used)
    sent = [row for row in rows["feedback-test-solicitations"] if row["state"] == "SENT"]
    assert {row["tracker_id"] for row in sent} == {row["tracker_id"] for row in of_surveys}
    numbers: Counter[str] = Counter()
    for page in statistics.load_pages(MAIN_ACCOUNT):
        for _, each in page:
            numbers.update(each)
    assert (numbers["sent"], numbers["answered"]) == (len(sent), len(used))
    assert rows["feedback-test-messages"] == []


def test_recount_finds_no_difference_in_demo_data(output: Path) -> None:
    demo(output)
    result = run("recount", MAIN_ACCOUNT)
    assert result.exit_code == 0, result.stdout


def test_demo_file_is_readable_only_by_its_owner(output: Path) -> None:
    output.parent.mkdir()
    output.write_text("{}")
    output.chmod(0o644)
    demo(output)
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_examples_contain_valid_requests_and_links(
    output: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    demo_file = demo(output)
    description = DemoDescription.read(output)
    assert description
    lines = description.examples().splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("curl ")]
    assert [command[-1] for command in commands] == [
        f"{BASE_URL}/partners/customer?id={demo_file['customerId']}",
        f"{BASE_URL}/partners/customer/list",
        f"{BASE_URL}/partners/survey?id={demo_file['surveyId']}",
    ]
    for command in commands:
        assert f"X-API-SECRET: {demo_file['apiSecret']}" in command
    pages = [demo_file[name] for name in ("contactFormPage", "surveyPage", "rtlSurveyPage")]
    assert set(pages) <= set(lines)
    assert demo_file["webhookSecret"] not in description.examples()
    assert demo_file["apiSecret"] not in caplog.text
    assert demo_file["webhookSecret"] not in caplog.text
