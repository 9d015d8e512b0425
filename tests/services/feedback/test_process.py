"""Processing of feedback: counts and customers, exactly once under redelivery."""

import json
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.customer import Customer, CustomerBody
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.paging import PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import list_customers
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    submit_contact_form,
    submit_survey,
)
from chalicelib.services.workflows.cached_workflows import workflows_of
from chalicelib.storage import feedback
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.opened import Opened


def answer_contact_form(opened: Opened, **answers: str) -> Feedback:
    document = {"id": opened.contact_form_id, "fields": opened.answered(**answers)}
    return submit_contact_form(parse(document, ContactFormSubmission), SubmissionMetadata())


def answer_survey(opened: Opened, tracker: str | None = None, **answers: str) -> Feedback:
    document: dict[str, Any] = {"id": opened.survey_id, "fields": opened.answered(**answers)}
    if tracker:
        document |= {"id": opened.private_survey_id, "tracker": tracker}
    return submit_survey(parse(document, SurveySubmission), SubmissionMetadata())


def work(opened: Opened) -> None:
    assert FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(opened.account_id)) == []


def respondents(opened: Opened) -> list[Customer]:
    """Return the customers of the account, except the one that the fixture creates."""
    page = list_customers(opened.account_id, PageRequest(limit=100))
    assert page.meta.total_items == len(page.items)
    return [customer for customer in page.items if customer.id != opened.customer_id]


def test_submissions_are_counted_by_form(opened: Opened) -> None:
    for _ in range(3):
        answer_contact_form(opened)
    answer_survey(opened)
    answer_survey(opened, opened.tracker())
    work(opened)
    assert opened.counts == (3, 1, 1)


def test_feedback_with_tracker_counts_for_its_customer(opened: Opened) -> None:
    for nps in ("7", "10"):
        answer_survey(opened, opened.tracker(), nps=nps)
    answer_survey(opened, opened.tracker())
    work(opened)
    customer = opened.customer
    assert (customer.feedback_count, customer.average_feedback_rating) == (3, "8.5")
    assert customer.type == "Both"
    assert "Survey" in customer.data_sources
    assert respondents(opened) == []


@pytest.mark.parametrize(
    ("answer", "source"), [(answer_contact_form, "Site"), (answer_survey, "Survey")]
)
def test_unknown_respondent_becomes_customer(opened: Opened, answer: Any, source: str) -> None:
    given = answer(opened, mail="Zoe@Example.test", phone="06 12 34 56 78", nps="6")
    work(opened)
    (customer,) = respondents(opened)
    assert (customer.email, customer.phone_number) == ("Zoe@Example.test", "06 12 34 56 78")
    assert (customer.type, customer.feedback_count) == ("Reviewer", 1)
    assert (customer.average_feedback_rating, customer.data_sources) == ("6", (source,))
    kept = feedback.find(given.id)
    assert kept
    assert (kept.state, kept.feedback.customer_id) == ("DONE", customer.id)


def test_known_respondent_is_matched_by_pair(opened: Opened) -> None:
    body = parse({"email": "zoe@example.test", "phoneNumber": "+33612"}, CustomerBody)
    known = create_customer(opened.account_id, body)
    answer_contact_form(opened, mail="ZOE@example.test", phone="0033 612")
    answer_survey(opened, mail="zoe@example.test")
    work(opened)
    first, other = respondents(opened)
    assert (first.id, first.feedback_count, first.data_sources) == (known.id, 1, ("Import", "Site"))
    assert (other.email, other.phone_number, other.feedback_count) == ("zoe@example.test", None, 1)


def test_respondents_with_same_pair_are_one_customer(opened: Opened) -> None:
    for _ in range(4):
        answer_contact_form(opened, mail="zoe@example.test", nps="5")
    work(opened)
    (customer,) = respondents(opened)
    assert (customer.feedback_count, customer.average_feedback_rating) == (4, "5")


def test_feedback_without_email_and_phone_has_no_customer(opened: Opened) -> None:
    given = answer_contact_form(opened)
    work(opened)
    kept = feedback.find(given.id)
    assert kept
    assert (kept.state, kept.feedback.customer_id) == ("DONE", None)
    assert respondents(opened) == []


def test_tracker_takes_precedence_over_answers(opened: Opened) -> None:
    answer_survey(opened, opened.tracker(), mail="other@example.test")
    answer_survey(opened, opened.tracker(customerId=None), mail="other@example.test")
    work(opened)
    assert respondents(opened) == []
    assert opened.customer.feedback_count == 1


def test_phone_number_over_length_limit_is_omitted(opened: Opened) -> None:
    answer_contact_form(opened, mail="zoe@example.test", phone="+33" + " " * 300 + "612345678")
    work(opened)
    (customer,) = respondents(opened)
    assert (customer.email, customer.phone_number) == ("zoe@example.test", None)


def test_feedback_of_erased_customer_counts_for_form(opened: Opened) -> None:
    given = answer_survey(opened, opened.tracker())
    CustomerRow(account_key(opened.account_id, opened.customer_id)).delete()
    work(opened)
    kept = feedback.find(given.id)
    assert kept
    assert kept.state == "DONE"
    assert opened.counts == (0, 0, 1)


def test_redelivery_has_no_effect(opened: Opened) -> None:
    answer_contact_form(opened, mail="zoe@example.test", nps="5")
    answer_survey(opened, opened.tracker(), nps="9")
    messages = FEEDBACK_QUEUE.queued_messages(opened.account_id)
    FEEDBACK_QUEUE.deliver([*messages, *messages])
    before = opened.counts, opened.customer, respondents(opened)
    assert (
        FEEDBACK_QUEUE.deliver(messages)
        == FEEDBACK_QUEUE.deliver(messages[::-1], receive_count=5)
        == []
    )
    assert (opened.counts, opened.customer, respondents(opened)) == before
    assert opened.counts == (1, 0, 1)


def test_batch_makes_three_aws_requests(opened: Opened) -> None:
    for _ in range(12):
        answer_contact_form(opened)
        answer_survey(opened, opened.tracker(), nps="9")
    messages = FEEDBACK_QUEUE.queued_messages(opened.account_id)
    assert len(messages) == 24
    assert workflows_of(opened.account_id) == ()
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    assert dict(calls) == {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 1}
    assert opened.counts == (12, 0, 12)


def test_failed_feedback_does_not_block_others(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = answer_contact_form(opened)
    bad = answer_contact_form(opened, mail="zoe@example.test")

    def failing(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("chalicelib.storage.customers.find_or_create", failing)
    assert FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(opened.account_id)) == []
    states = [feedback.find(each.id) for each in (good, bad)]
    assert [kept.state for kept in states if kept] == ["DONE", "PENDING"]
    assert opened.counts == (1, 0, 0)


@pytest.mark.parametrize(
    "body", ["", "x", "[]", "{}", '{"accountId": 1, "feedbackId": "x"}', '{"feedbackId": "x"}']
)
def test_malformed_message_is_reported_as_failed(opened: Opened, body: str) -> None:
    answer_contact_form(opened)
    (good,) = FEEDBACK_QUEUE.queued_messages(opened.account_id)
    assert FEEDBACK_QUEUE.deliver([body, good]) == [body]
    assert opened.counts == (1, 0, 0)


def test_message_of_unknown_feedback_is_dropped(opened: Opened) -> None:
    body = json.dumps({"accountId": opened.account_id, "feedbackId": opened.account_id})
    assert FEEDBACK_QUEUE.deliver([body]) == FEEDBACK_QUEUE.deliver([body], receive_count=2) == []
