"""Tests of the endpoint that reads one feedback."""

from typing import Any

import pytest

from admin.services.feedback.exclude import delete_feedback, mark_test
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.feedback.submission import ContactFormSubmission
from chalicelib.domain.ids import new_id
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from tests.domain.forms.factories import select
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.web.partner.answered import Answered
from tests.web.partner_client import new_partner
from tests.web.seeded_account import REVIEW_PAGE


def read(answered: Answered, feedback_id: str) -> dict[str, Any]:
    response = answered.partner.get(f"/partners/feedback?id={feedback_id}")
    assert response.status == 200
    content: dict[str, Any] = response.json
    return content


def test_feedback_contains_answers_in_display_order_and_names(answered: Answered) -> None:
    tracker = answered.tracker()
    submitted = answer_survey(answered, tracker, nps="9", note="Merci")
    process_feedback([submitted.id])
    shown = read(answered, submitted.id.upper())
    answers = shown.pop("answers")
    assert shown.pop("updatedAt") >= shown.pop("createdAt")
    assert shown == {
        "id": submitted.id,
        "kind": "SURVEY",
        "form": {"id": answered.private_survey_id, "name": "Visit"},
        "brand": {"id": answered.brand_id, "name": "Maison Lumen"},
        "store": {"id": answered.store_id, "name": "Lyon Bellecour"},
        "purchaseId": submitted.purchase_id,
        "customerId": answered.customer_id,
        "trackerId": tracker,
        "contextId": tracker,
        "language": "en",
        "source": "Survey",
        "rating": 9,
        "labels": {},
        "redirectTo": REVIEW_PAGE,
        "anonymized": False,
        "partial": False,
        "test": False,
    }
    assert [answer["key"] for answer in answers] == ["what", "note", "nps"]
    assert answers[2] == {
        "fieldId": answered.fields["nps"],
        "key": "nps",
        "type": "NPS",
        "label": "Nps",
        "values": ["9"],
        "displayedValues": ["9"],
        "rating": 9,
    }
    assert answers[1]["rating"] is None


def test_feedback_and_feed_contain_labels_until_it_is_anonymized(answered: Answered) -> None:
    answered.contact_form(labels={"table": {"maxDigits": 2}})
    submission = ContactFormSubmission(
        id=answered.contact_form_id, fields=answered.answers(nps="9"), labels={"table": "12"}
    )
    submitted = submit_feedback(submission, SubmissionMetadata())
    process_feedback([submitted.id])
    assert read(answered, submitted.id)["labels"] == {"table": "12"}
    (item,) = answered.partner.post("/partners/feedback/list", {}).json["items"]
    assert item["labels"] == {"table": "12"}
    assert submitted.without_person().labels == {}


def test_feedback_keeps_wording_that_respondent_saw(answered: Answered) -> None:
    submitted = answer_contact_form(answered)
    answered.contact_form(
        fields=[select("what", "Rooms", id=answered.fields["what"], label="Which?")]
    )
    (answer,) = read(answered, submitted.id)["answers"]
    assert (answer["label"], answer["displayedValues"]) == ("What", ["Food"])


def test_feedback_shows_test_mark_and_time_of_last_change(answered: Answered) -> None:
    submitted = answer_contact_form(answered)
    created = read(answered, submitted.id)
    assert created["updatedAt"] == created["createdAt"]
    process_feedback([submitted.id])
    processed = read(answered, submitted.id)
    mark_test(submitted.id, is_test=True)
    marked = read(answered, submitted.id)
    assert (processed["test"], marked["test"]) == (False, True)
    times = [each["updatedAt"] for each in (created, processed, marked)]
    assert times == sorted(times)
    assert marked["createdAt"] == created["createdAt"]


def test_feedback_of_other_account_unknown_and_deleted_feedback_are_not_found(
    answered: Answered,
) -> None:
    submitted = answer_contact_form(answered)
    path = f"/partners/feedback?id={submitted.id}"
    other = new_partner(answered.partner.client)
    problems = [other.get(path), other.get(f"/partners/feedback?id={new_id()}")]
    delete_feedback(submitted.id, "operator")
    problems.append(answered.partner.get(path))
    assert {(response.status, response.json["detail"]) for response in problems} == {
        (404, "There is no feedback with this id.")
    }


def test_feedback_takes_one_aws_request(answered: Answered) -> None:
    submitted = answer_contact_form(answered)
    read(answered, submitted.id)
    with counted_calls() as calls:
        read(answered, submitted.id)
    assert dict(calls) == {"dynamodb.BatchGetItem": 1}


@pytest.mark.parametrize(("query", "code"), [("", "required"), ("?id=x", "invalid_uuid")])
def test_invalid_id_of_feedback_is_rejected(answered: Answered, query: str, code: str) -> None:
    assert answered.partner.get(f"/partners/feedback{query}").errors == [("?id", code)]
