"""Test that feedback updates counts and customers exactly once, even after a redelivery."""

import json
from dataclasses import replace
from typing import Any

import pytest

from admin.services.accounts.settings import change_account_settings
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.customers.create import create_customer
from chalicelib.services.feedback.process import MAX_BATCH_SIZE, process_feedback
from chalicelib.services.workflows.read import workflows_of
from chalicelib.storage import feedback
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import Key, account_key, find_row
from chalicelib.storage.forms import SUMMARY, ContactFormRow, FormRow, SurveyRow
from chalicelib.storage.trackers import TrackerRow
from tests.aws.faults import failing
from tests.services.feedback.submitting import (
    answer_contact_form,
    answer_survey,
    respondents,
)
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.seeded_account import SeededAccount, seed_account


def process_queued_feedback(seeded: SeededAccount) -> None:
    assert FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id)) == []


def test_processing_counts_submissions_by_form(seeded: SeededAccount) -> None:
    for _ in range(3):
        answer_contact_form(seeded)
    answer_survey(seeded)
    answer_survey(seeded, seeded.tracker())
    process_queued_feedback(seeded)
    assert seeded.counts == (3, 1, 1)


def test_feedback_with_tracker_is_counted_for_customer_of_tracker(seeded: SeededAccount) -> None:
    for nps in ("7", "10"):
        answer_survey(seeded, seeded.tracker(), nps=nps)
    answer_survey(seeded, seeded.tracker())
    process_queued_feedback(seeded)
    customer = seeded.customer
    assert (customer.feedback_count, customer.average_feedback_rating) == (3, "8.5")
    assert customer.type == "Both"
    assert "Survey" in customer.data_sources
    assert respondents(seeded) == []


@pytest.mark.parametrize(
    ("answer", "source"), [(answer_contact_form, "Site"), (answer_survey, "Survey")]
)
def test_feedback_of_unknown_respondent_creates_customer(
    seeded: SeededAccount, answer: Any, source: str
) -> None:
    submitted = answer(seeded, mail="Zoe@Example.test", phone="06 12 34 56 78", nps="6")
    process_queued_feedback(seeded)
    (customer,) = respondents(seeded)
    assert (customer.email, customer.phone_number) == ("Zoe@Example.test", "06 12 34 56 78")
    assert (customer.type, customer.feedback_count) == ("Reviewer", 1)
    assert (customer.average_feedback_rating, customer.data_sources) == ("6", (source,))
    stored = feedback.find(submitted.id)
    assert stored
    assert (stored.state, stored.feedback.customer_id) == ("DONE", customer.id)


def test_respondent_is_matched_with_customer_by_email_and_phone(seeded: SeededAccount) -> None:
    body = parse({"email": "zoe@example.test", "phoneNumber": "+33612"}, CustomerBody)
    known = create_customer(seeded.account_id, body)
    answer_contact_form(seeded, mail="ZOE@example.test", phone="0033 612")
    answer_survey(seeded, mail="zoe@example.test")
    process_queued_feedback(seeded)
    first, other = respondents(seeded)
    assert (first.id, first.feedback_count, first.data_sources) == (known.id, 1, ("Import", "Site"))
    assert (other.email, other.phone_number, other.feedback_count) == ("zoe@example.test", None, 1)


def test_feedback_with_same_email_creates_one_customer(seeded: SeededAccount) -> None:
    for _ in range(4):
        answer_contact_form(seeded, mail="zoe@example.test", nps="5")
    process_queued_feedback(seeded)
    (customer,) = respondents(seeded)
    assert (customer.feedback_count, customer.average_feedback_rating) == (4, "5")


def test_feedback_without_email_and_phone_is_not_linked_to_customer(seeded: SeededAccount) -> None:
    submitted = answer_contact_form(seeded)
    process_queued_feedback(seeded)
    stored = feedback.find(submitted.id)
    assert stored
    assert (stored.state, stored.feedback.customer_id) == ("DONE", None)
    assert respondents(seeded) == []


def test_tracker_determines_customer_regardless_of_answers(seeded: SeededAccount) -> None:
    answer_survey(seeded, seeded.tracker(), mail="other@example.test")
    answer_survey(seeded, seeded.tracker(customerId=None), mail="other@example.test")
    process_queued_feedback(seeded)
    assert respondents(seeded) == []
    assert seeded.customer.feedback_count == 1


def test_only_trackers_link_feedback_if_account_does_not_identify_respondents(
    seeded: SeededAccount,
) -> None:
    change_account_settings(seeded.account_id, {"identifyRespondents": False}, "anna")
    typed = answer_contact_form(seeded, mail=seeded.customer.email or "", nps="1")
    answer_survey(seeded, mail="zoe@example.test")
    answer_survey(seeded, seeded.tracker(), nps="9")
    process_queued_feedback(seeded)
    stored = feedback.find(typed.id)
    assert stored
    assert (stored.state, stored.feedback.customer_id) == ("DONE", None)
    assert respondents(seeded) == []
    customer = seeded.customer
    assert (customer.feedback_count, customer.average_feedback_rating) == (1, "9")
    assert seeded.counts == (1, 1, 1)


def test_identifying_respondents_costs_one_request_for_settings(seeded: SeededAccount) -> None:
    for name in ("zoe", "anna"):
        answer_contact_form(seeded, mail=f"{name}@example.test")
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    assert workflows_of(seeded.account_id) == ()
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    assert calls["dynamodb.GetItem"] == 1
    assert account_settings(seeded.account_id).identify_respondents


def test_new_customer_omits_phone_number_over_length_limit(seeded: SeededAccount) -> None:
    answer_contact_form(seeded, mail="zoe@example.test", phone="+33" + " " * 300 + "612345678")
    process_queued_feedback(seeded)
    (customer,) = respondents(seeded)
    assert (customer.email, customer.phone_number) == ("zoe@example.test", None)


def test_feedback_of_erased_customer_is_counted_for_form(seeded: SeededAccount) -> None:
    submitted = answer_survey(seeded, seeded.tracker())
    CustomerRow(account_key(seeded.account_id, seeded.customer_id)).delete()
    process_queued_feedback(seeded)
    stored = feedback.find(submitted.id)
    assert stored
    assert stored.state == "DONE"
    assert seeded.counts == (0, 0, 1)


def test_redelivered_feedback_message_changes_nothing(seeded: SeededAccount) -> None:
    answer_contact_form(seeded, mail="zoe@example.test", nps="5")
    answer_survey(seeded, seeded.tracker(), nps="9")
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    FEEDBACK_QUEUE.deliver([*messages, *messages])
    before = seeded.counts, seeded.customer, respondents(seeded)
    assert (
        FEEDBACK_QUEUE.deliver(messages)
        == FEEDBACK_QUEUE.deliver(messages[::-1], receive_count=5)
        == []
    )
    assert (seeded.counts, seeded.customer, respondents(seeded)) == before
    assert seeded.counts == (1, 0, 1)


def test_feedback_that_is_named_twice_is_counted_once(seeded: SeededAccount) -> None:
    submitted = answer_contact_form(seeded)
    assert [*process_feedback([submitted.id, submitted.id])] == [submitted.id]
    assert seeded.counts == (1, 0, 0)


def test_processing_batch_of_feedback_sends_three_aws_requests(seeded: SeededAccount) -> None:
    for _ in range(12):
        answer_contact_form(seeded)
        answer_survey(seeded, seeded.tracker(), nps="9")
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    assert len(messages) == 24
    assert workflows_of(seeded.account_id) == ()
    account_settings(seeded.account_id)
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    assert dict(calls) == {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 1}
    assert seeded.counts == (12, 0, 12)


def test_new_respondents_of_batch_take_no_further_requests(
    seeded: SeededAccount,
) -> None:
    for number in range(12):
        answer_contact_form(seeded, mail=f"guest-{number % 10}@example.test", nps="9")
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    workflows_of(seeded.account_id)
    account_settings(seeded.account_id)
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    assert dict(calls) == {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 1}
    created = respondents(seeded)
    assert len(created) == 10
    assert sum(customer.feedback_count for customer in created) == 12


def test_new_respondents_of_many_accounts_take_no_further_requests(
    seeded: SeededAccount,
) -> None:
    accounts = [seeded, *(seed_account() for _ in range(2))]
    messages = []
    for number, account in enumerate(accounts):
        for guest in range(2):
            answer_contact_form(account, mail=f"guest-{guest}-{number}@example.test", nps="9")
        messages += FEEDBACK_QUEUE.queued_messages(account.account_id)
        workflows_of(account.account_id)
        account_settings(account.account_id)
    assert len(messages) == 6
    with counted_calls() as calls:
        FEEDBACK_QUEUE.deliver(messages)
    # Each account has a feed, so each has a transaction.
    assert dict(calls) == {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 3}
    assert [len(respondents(account)) for account in accounts] == [2, 2, 2]


@pytest.mark.parametrize(
    ("answer", "form_row"), [(answer_contact_form, ContactFormRow), (answer_survey, SurveyRow)]
)
def test_feedback_of_form_that_a_restore_lost_waits(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch, answer: Any, form_row: type[FormRow]
) -> None:
    submitted = answer(seeded)
    summary = form_row.get(submitted.form_id, SUMMARY)
    summary.delete()
    monkeypatch.setattr("chalicelib.backoff.retry_s", lambda: 0.0)
    with pytest.raises(Unavailable):
        process_feedback([submitted.id])
    assert find_row(Key(form_row, submitted.form_id, SUMMARY)) is None
    stored = feedback.find(submitted.id)
    assert stored
    assert stored.state == "PENDING"


def test_failed_feedback_does_not_block_other_feedback(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = answer_contact_form(seeded)
    bad = answer_contact_form(seeded, mail="zoe@example.test")

    def failing(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("chalicelib.storage.customer_creation.append", failing)
    assert FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id)) == []
    states = [feedback.find(submitted.id) for submitted in (good, bad)]
    assert [stored.state for stored in states if stored] == ["DONE", "PENDING"]
    assert seeded.counts == (1, 0, 0)


def test_message_of_unknown_feedback_is_deleted(seeded: SeededAccount) -> None:
    body = json.dumps({"accountId": seeded.account_id, "feedbackId": seeded.account_id})
    assert FEEDBACK_QUEUE.deliver([body]) == FEEDBACK_QUEUE.deliver([body], receive_count=2) == []


@pytest.mark.parametrize("is_solicited", [False, True])
def test_largest_batch_on_different_forms_fits_into_one_transaction(
    seeded: SeededAccount, is_solicited: bool
) -> None:
    feedback_ids, forms = [], []
    for number in range(MAX_BATCH_SIZE):
        mail = f"zoe{number}@example.test"
        if is_solicited:
            other = replace(seeded, private_survey_id=new_id())
            other.survey(other.private_survey_id)
            tracker = other.tracker(customerId=None, customer={"email": mail})
            sent_as = TrackerRow.counted_as.set(f"2026-01-01#survey#{other.private_survey_id}##")
            TrackerRow.get(tracker).update([sent_as])
            feedback_ids.append(answer_survey(other, tracker).id)
        else:
            other = replace(seeded, contact_form_id=new_id())
            other.contact_form()
            feedback_ids.append(answer_contact_form(other, mail=mail).id)
        forms.append(other)
    with failing(Exception(), times=0, operation="TransactWriteItems") as sent:
        assert len(process_feedback(feedback_ids)) == MAX_BATCH_SIZE
    (request,) = sent
    # Each record takes five writes. The others are for the feed, and the numbers of records.
    assert len(request["TransactItems"]) == 5 * MAX_BATCH_SIZE + (3 if is_solicited else 4)
    assert [sum(each.counts) for each in forms] == [1] * MAX_BATCH_SIZE
