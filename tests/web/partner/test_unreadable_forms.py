"""Tests of an account with a survey that this version of the service cannot read."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from chalice.test import Client

from admin.services.close_account import close_account
from admin.services.definitions.kinds import SURVEY, save
from chalicelib.domain import clock
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms import wordings
from chalicelib.storage.forms import SurveyRow
from tests.admin.command import run
from tests.domain.forms.factories import field
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.partner.reporter import Reporter

CUSTOMER = {"email": "zoe@example.test", "emailOptin": True}


@pytest.fixture
def unreadable(own: Reporter, monkeypatch: pytest.MonkeyPatch) -> str:
    """Add a survey with an answer, and change it into a survey of a later version. Return its id.

    Its field has a type that does not exist.
    """
    survey_id, field_id = new_id(), new_id()
    target = {"type": "STORE", "targetId": own.shop.store_id, "enabled": True}
    definition = {
        "id": survey_id,
        "name": "Later version",
        "language": "en",
        "enabled": True,
        "publiclyAvailable": True,
        "sendingChannels": ["EMAIL"],
        "fields": [field("nps", "NPS", id=field_id)],
        "targets": [target],
    }
    save(SURVEY, own.shop.account_id, definition)
    body = {"id": survey_id, "fields": [{"id": field_id, "values": ["9"]}]}
    submit_feedback(
        parse(body | {"store": own.shop.store_id}, SurveySubmission), SubmissionMetadata()
    )
    FEEDBACK_QUEUE.deliver_all(own.shop.account_id)
    for row in SurveyRow.scan():
        if row.form_id.startswith(survey_id) and row.document:
            row.document = row.document.replace(b'"NPS"', b'"MOOD"')
            row.save()
    monkeypatch.setattr(wordings, "_versions", {})
    clear_caches()
    return survey_id


def listed(own: Reporter) -> list[Any]:
    response = own.post("survey/list")
    assert response.status == 201
    assert response.json["meta"]["itemCount"] == len(response.json["items"])
    return [survey["id"] for survey in response.json["items"]]


def test_unreadable_survey_is_skipped_and_logged_when_surveys_are_sent(
    own: Reporter, unreadable: str, log: StringIO
) -> None:
    purchase = own.report(customer=CUSTOMER)
    own.shop.solicit()
    assert [sent.survey.id for sent in own.shop.provider.sent] == [own.shop.survey_id]
    assert own.outcome(purchase) == ("SENT", None)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert {line["form_id"] for line in lines if line["message"] == "form unreadable"} == {
        unreadable
    }


def test_partner_reads_other_surveys_and_feedback_of_unreadable_survey(
    own: Reporter, unreadable: str
) -> None:
    assert listed(own) == [own.shop.survey_id]
    assert own.partner.get(f"/partners/survey?id={own.shop.survey_id}").status == 200
    assert own.partner.get(f"/partners/survey?id={unreadable}").status == 503
    response = own.post("feedback/list")
    assert response.status == 201
    (answered,) = response.json["items"]
    assert (answered["form"]["id"], answered["rating"]) == (unreadable, 9)


def test_page_of_unreadable_survey_is_unavailable(
    own: Reporter, unreadable: str, client: Client
) -> None:
    for path in ("/public/survey", "/public/survey/page"):
        statuses = [
            client.http.get(f"{path}?survey={survey}&store={own.shop.store_id}").status_code
            for survey in (unreadable, own.shop.survey_id)
        ]
        assert statuses == [503, 403]


def test_commands_work_with_unreadable_survey(
    own: Reporter, unreadable: str, tmp_path: Path
) -> None:
    account, purchase = own.shop.account_id, own.report(customer=CUSTOMER)
    surveys = run("survey", "list", account, "--json")
    assert [survey["id"] for survey in json.loads(surveys.stdout)] == [own.shop.survey_id]
    assert surveys.stderr == (
        f"Skipped {unreadable}: this version of the service cannot read it.\n"
    )
    explained = run("solicitation", "explain", account, "Site", purchase["externalId"])
    assert explained.exit_code == 0
    definition = tmp_path / "survey.yaml"
    definition.write_text(run("survey", "export", own.shop.survey_id).stdout)
    renamed = definition.read_text().replace("After the visit", "After the stay")
    definition.write_text(renamed)
    loaded = run("definition", "load", "--yes", definition)
    assert loaded.exit_code == 0
    assert own.partner.get(f"/partners/survey?id={own.shop.survey_id}").json["name"] == (
        "After the stay"
    )
    for command, file in (("export", "all.csv"), ("report", "report.html")):
        written = run("feedback", command, account, "--output", tmp_path / file)
        assert written.exit_code == 0
    listed_feedback = run("feedback", "list", account, "--json")
    assert [each["form"] for each in json.loads(listed_feedback.stdout)] == [unreadable]


def test_unreadable_survey_is_named_in_one_line_unless_command_can_do_without_it(
    own: Reporter, unreadable: str, tmp_path: Path
) -> None:
    for verb in ("export", "enable", "link"):
        result = run("survey", verb, unreadable)
        assert (result.exit_code, result.stderr) == (
            1,
            f"Error: This version of the service cannot read the form {unreadable}.\n",
        )
    definition = tmp_path / "survey.yaml"
    exported = run("survey", "export", own.shop.survey_id).stdout
    definition.write_text(exported.replace(own.shop.survey_id, unreadable))
    for command in (("definition", "load", "--yes"), ("survey", "diff")):
        result = run(*command, definition)
        assert result.exit_code == 1
        assert unreadable in result.stdout + result.stderr
    assert run("survey", "disable", unreadable).exit_code == 0
    archived = run("survey", "archive", unreadable)
    assert archived.exit_code == 0
    assert "Later version" in archived.stderr
    assert run("survey", "list", own.shop.account_id).stderr == ""
    row = SurveyRow.get(unreadable, "document")
    saved = json.loads(row.document)
    assert (saved["archived"], saved["enabled"], saved["fields"][0]["type"]) == (
        True,
        False,
        "MOOD",
    )
    assert saved["updatedAt"] <= clock.now().isoformat()


def test_closing_of_account_disables_unreadable_survey(own: Reporter, unreadable: str) -> None:
    close_account(own.shop.account_id, "operator", lambda _: None)
    assert json.loads(SurveyRow.get(unreadable, "document").document)["enabled"] is False
