"""Test that the feedback of erased customers is anonymized but retains ratings and counts."""

from collections.abc import Iterator
from contextvars import Context
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest

from admin.services.accounts.settings import change_account_settings
from admin.services.customers.save import save_customer
from admin.services.feedback.exclude import mark_test
from admin.storage import counts
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission
from chalicelib.domain.parsing import parse
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.create import create_customer
from chalicelib.services.erasure import erase as erase_module
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback import limit_submissions
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms.cached_forms import Respondent
from chalicelib.settings import Settings
from chalicelib.storage import customers, feedback, purchases, trackers
from chalicelib.storage.counters import Counted
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.trackers import TrackerRow
from tests.aws.faults import before_request
from tests.aws.stage import tables
from tests.services.erasure.erasing import OPERATOR, erase, erased, finish
from tests.services.feedback.submitting import answer_contact_form, answer_survey, respondents
from tests.services.moved_time import Time, wrong_clock
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.definitions import customer_definition
from tests.web.seeded_account import SeededAccount

PERSON = {"mail": "zoe@example.test", "phone": "+33612345678"}

pytestmark = pytest.mark.usefixtures("time")


def submit(seeded: SeededAccount) -> Feedback:
    return answer_contact_form(seeded, note="Very slow", nps="2", **PERSON)


def process(seeded: SeededAccount) -> None:
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)


def respondent(seeded: SeededAccount) -> Customer:
    """Process feedback of a new person. Return the customer that it creates."""
    submit(seeded)
    process(seeded)
    (customer,) = respondents(seeded)
    return customer


def respondent_created_again(seeded: SeededAccount) -> tuple[Customer, Feedback, Customer]:
    """Erase a respondent while an index hides new feedback, and process this feedback.

    Return the erased customer, the feedback, and the customer that it creates again.
    """
    customer, late = respondent(seeded), submit(seeded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feedback, "rows_of_person", lambda *_: iter(()))
        erase(seeded.account_id, customer.id)
    process(seeded)
    (recreated,) = customers.find_by_email(seeded.account_id, PERSON["mail"])
    assert recreated.id != customer.id
    return customer, late, recreated


def create_again(seeded: SeededAccount, customer: Customer) -> None:
    """Save a customer with the id and the addresses of an erased customer."""
    addresses = {"email": PERSON["mail"], "phoneNumber": PERSON["phone"]}
    save_customer(seeded.account_id, customer_definition(id=customer.id, **addresses))


def stored(record: Feedback) -> Feedback:
    found = feedback.find(record.id)
    assert found
    return found.feedback


def test_erasure_keeps_ratings_and_counts(seeded: SeededAccount, time: Time) -> None:
    submitted = submit(seeded)
    process(seeded)
    (customer,) = respondents(seeded)
    erase(seeded.account_id, customer.id)
    kept = stored(submitted)
    assert [(answer.key, answer.values) for answer in kept.answers] == [("nps", ["2"])]
    assert (kept.rating, kept.customer_id, kept.context_id) == (2, None, kept.brand_id)
    assert seeded.counts == (1, 0, 0)
    assert counts.load_counts(seeded.account_id)[Counted.FEEDBACK].number == 1
    ended = finish(seeded.account_id, customer.id, time)
    assert erased(ended) == {"customers": 1, "feedback": 1}


def test_erased_feedback_has_no_tracker_and_no_customer(seeded: SeededAccount) -> None:
    submitted = answer_survey(seeded, seeded.tracker(), nps="9", note="Fine")
    process(seeded)
    erase(seeded.account_id, seeded.customer_id)
    kept = stored(submitted)
    assert (kept.tracker_id, kept.purchase_id, kept.customer_id) == (None, None, None)
    assert kept.context_id == seeded.store_id
    assert seeded.counts == (0, 0, 1)


def test_pending_feedback_is_processed_without_person(seeded: SeededAccount) -> None:
    first = submit(seeded)
    process(seeded)
    (customer,) = respondents(seeded)
    pending = submit(seeded)
    erase(seeded.account_id, customer.id)
    process(seeded)
    assert respondents(seeded) == []
    assert seeded.counts == (2, 0, 0)
    assert stored(pending).email is stored(first).email is None


def test_unlinked_feedback_with_same_addresses_is_anonymized(seeded: SeededAccount) -> None:
    change_account_settings(seeded.account_id, {"identifyRespondents": False}, "operator")
    clear_caches()
    submitted = submit(seeded)
    process(seeded)
    change_account_settings(seeded.account_id, {"identifyRespondents": True}, "operator")
    clear_caches()
    customer = respondent(seeded)
    erase(seeded.account_id, customer.id)
    assert stored(submitted).email is None


@pytest.mark.parametrize("number", [1, 2])
def test_person_erased_while_feedback_is_processed_is_not_created_again(
    seeded: SeededAccount, number: int
) -> None:
    customer = respondent(seeded)
    late = submit(seeded)
    with before_request(number, lambda: Context().run(erase, seeded.account_id, customer.id)):
        process(seeded)
    assert customers.find_by_email(seeded.account_id, PERSON["mail"]) == []
    assert (stored(late).email, stored(late).customer_id) == (None, None)
    assert seeded.counts == (2, 0, 0)


def test_customer_created_again_by_hidden_feedback_is_erased_in_next_pass(
    seeded: SeededAccount, time: Time
) -> None:
    customer, late, _ = respondent_created_again(seeded)
    finish(seeded.account_id, customer.id, time)
    assert customers.find_by_email(seeded.account_id, PERSON["mail"]) == []
    assert stored(late).email is None
    assert seeded.counts == (2, 0, 0)
    rows = list(FeedbackRow.scan(FeedbackRow.account_id == seeded.account_id))
    assert all(row.customer_id is row.contact_hash is row.input_hash is None for row in rows)


def test_records_of_recreated_customer_that_indexes_hid_are_erased_later(
    seeded: SeededAccount, time: Time
) -> None:
    customer, _, recreated = respondent_created_again(seeded)
    tracker_id = seeded.tracker(customerId=recreated.id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(purchases, "rows_of_customer", lambda *_: iter(()))
        patch.setattr(trackers, "rows_of_customer", lambda *_: iter(()))
        erase(seeded.account_id, customer.id)
    assert customers.find(seeded.account_id, recreated.id) is None
    assert trackers.find(tracker_id)
    finish(seeded.account_id, customer.id, time)
    assert list(purchases.of_customer(seeded.account_id, recreated.id)) == []
    assert trackers.find(tracker_id) is None


def test_erasure_does_not_end_if_other_pass_erases_records_meanwhile(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"email": PERSON["mail"], "phoneNumber": PERSON["phone"]}
    customer = create_customer(seeded.account_id, parse(body, CustomerBody))
    erasure = start_erasure(seeded.account_id, customer.id, OPERATOR)
    time.ahead += timedelta(minutes=20)
    late = submit(seeded)
    # After both passes have found no feedback, the customer gets feedback. The second pass deletes
    # the customer, so the first pass finds no records at all.
    interruptions = iter([lambda: continue_erasure(erasure.pointer), lambda: process(seeded)])
    real = erase_module._erase_purchases

    def interrupted(*arguments: Any, created_again: Any) -> None:
        for interrupt in islice(interruptions, 1):
            interrupt()
        real(*arguments, created_again=created_again)

    monkeypatch.setattr(erase_module, "_erase_purchases", interrupted)
    continue_erasure(erasure.pointer)
    assert customers.find(seeded.account_id, customer.id) is None
    assert stored(late).customer_id == customer.id
    finish(seeded.account_id, customer.id, time)
    assert stored(late).customer_id is None


def test_purchases_and_trackers_of_recreated_customer_are_erased(
    seeded: SeededAccount, time: Time
) -> None:
    customer, _, recreated = respondent_created_again(seeded)
    tracker_id = seeded.tracker(customerId=recreated.id)
    finish(seeded.account_id, customer.id, time)
    assert customers.find_by_email(seeded.account_id, PERSON["mail"]) == []
    assert list(purchases.of_customer(seeded.account_id, recreated.id)) == []
    assert trackers.find(tracker_id) is None


def test_tracker_that_two_passes_find_is_counted_once(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeded.tracker()
    erasure = start_erasure(seeded.account_id, seeded.customer_id, OPERATOR)
    find = trackers.rows_of_customer

    def find_before_other_pass(*arguments: str) -> Iterator[TrackerRow]:
        found = [*find(*arguments)]
        monkeypatch.setattr(trackers, "rows_of_customer", find)
        continue_erasure(erasure.pointer)
        return iter(found)

    monkeypatch.setattr(trackers, "rows_of_customer", find_before_other_pass)
    continued = continue_erasure(erasure.pointer)
    assert continued
    assert erased(continued)["trackers"] == 1


def test_feedback_of_other_customer_with_same_pair_stays_linked(seeded: SeededAccount) -> None:
    customer = respondent(seeded)
    of_other = answer_survey(seeded, seeded.tracker(), note="Fine", nps="9", **PERSON)
    process(seeded)
    erase(seeded.account_id, customer.id)
    kept = stored(of_other)
    assert (kept.email, kept.customer_id) == (None, seeded.customer_id)
    assert seeded.customer.feedback_count == 1


def test_feedback_after_erasure_is_kept(seeded: SeededAccount, time: Time) -> None:
    customer = respondent(seeded)
    erase(seeded.account_id, customer.id)
    time.ahead += timedelta(minutes=1)
    later = submit(seeded)
    process(seeded)
    finish(seeded.account_id, customer.id, time)
    (again,) = respondents(seeded)
    assert (stored(later).email, stored(later).customer_id) == (PERSON["mail"], again.id)
    assert again.feedback_count == 1


def test_repeated_request_keeps_time_and_later_feedback(seeded: SeededAccount, time: Time) -> None:
    customer = respondent(seeded)
    first = erase(seeded.account_id, customer.id)
    time.ahead += timedelta(minutes=1)
    later = submit(seeded)
    time.ahead += timedelta(minutes=1)
    repeated = erase(seeded.account_id, customer.id)
    assert (repeated.state, repeated.erased_at) == ("PENDING", first.erased_at)
    process(seeded)
    finish(seeded.account_id, customer.id, time)
    (again,) = respondents(seeded)
    assert stored(later).email == PERSON["mail"]
    erase(seeded.account_id, again.id)
    assert stored(later).email is None


def test_older_feedback_that_first_pass_did_not_find_is_erased_if_customer_exists_again(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = submit(seeded)
    process(seeded)
    (customer,) = respondents(seeded)
    with monkeypatch.context() as patch:
        # The indexes do not contain the feedback yet.
        patch.setattr(feedback, "of_person", lambda *_: iter(()))
        erase(seeded.account_id, customer.id)
    time.ahead += timedelta(minutes=1)
    create_again(seeded, customer)
    later = submit(seeded)
    process(seeded)
    finish(seeded.account_id, customer.id, time)
    assert (stored(older).email, stored(older).customer_id) == (None, None)
    assert (stored(later).email, stored(later).customer_id) == (PERSON["mail"], customer.id)
    (again,) = respondents(seeded)
    assert again.feedback_count == 1


def test_older_feedback_is_removed_from_counts_of_customer_that_exists_again(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = respondent(seeded)
    older = submit(seeded)
    with monkeypatch.context() as patch:
        # The indexes do not contain the feedback yet.
        patch.setattr(feedback, "of_person", lambda *_: iter(()))
        erase(seeded.account_id, customer.id)
    time.ahead += timedelta(minutes=1)
    create_again(seeded, customer)
    process(seeded)
    finish(seeded.account_id, customer.id, time)
    assert (stored(older).email, stored(older).customer_id) == (None, None)
    (again,) = respondents(seeded)
    assert (again.feedback_count, again.rating_sum, again.rating_count) == (0, 0, 0)


def test_feedback_processed_before_deletion_does_not_belong_to_customer_created_again(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = respondent(seeded)
    started = start_erasure(seeded.account_id, customer.id, OPERATOR)
    time.ahead += timedelta(minutes=1)
    later = submit(seeded)
    process(seeded)
    with monkeypatch.context() as patch:
        # The indexes do not contain the feedback yet.
        patch.setattr(feedback, "of_person", lambda *_: iter(()))
        continue_erasure(started.pointer)
    time.ahead += timedelta(minutes=1)
    create_again(seeded, customer)
    finish(seeded.account_id, customer.id, time)
    assert (stored(later).email, stored(later).customer_id) == (None, None)
    (again,) = respondents(seeded)
    assert again.feedback_count == 0


@pytest.mark.parametrize("minutes", [-4, 4])
@pytest.mark.parametrize("is_counted", [False, True])
def test_time_of_feedback_is_time_of_database(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch, minutes: int, is_counted: bool
) -> None:
    limited = Settings("test", "eu-west-1", submissions=50 if is_counted else 0)
    monkeypatch.setattr(limit_submissions, "settings", lambda: limited)
    body = parse({"id": seeded.contact_form_id, "fields": seeded.answers()}, ContactFormSubmission)
    metadata = SubmissionMetadata(Respondent(address="203.0.113.7"))
    tracker = seeded.tracker()
    submit_feedback(body, metadata)
    started = clock.now().replace(microsecond=0)
    with wrong_clock(timedelta(minutes=minutes)):
        with counted_calls() as calls:
            submitted = submit_feedback(body, metadata)
        answered = answer_survey(seeded, tracker)
    ended = clock.now() + timedelta(seconds=1)
    assert calls.total() == 3
    assert started <= stored(submitted).created_at <= ended
    assert started <= stored(answered).created_at <= ended


def test_feedback_of_fast_clock_before_erasure_does_not_recreate_person(
    seeded: SeededAccount, time: Time
) -> None:
    customer = respondent(seeded)
    with wrong_clock(timedelta(minutes=4)):
        late = submit(seeded)
    # The worker has read the feedback when the operator erases the person.
    with before_request(1, lambda: Context().run(erase, seeded.account_id, customer.id)):
        process(seeded)
    finish(seeded.account_id, customer.id, time)
    assert customers.find_by_email(seeded.account_id, PERSON["mail"]) == []
    assert stored(late).email is None


def test_mark_of_feedback_does_not_create_erased_customer_again(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables(), "lag_s", 3600.0)  # The erasure does not find the feedback.
    submitted = submit(seeded)
    process(seeded)
    customer_id = stored(submitted).customer_id
    assert customer_id
    with before_request("TransactWriteItems", lambda: erase(seeded.account_id, customer_id)):
        mark_test(submitted.id, is_test=True)
    assert customers.find(seeded.account_id, customer_id) is None
