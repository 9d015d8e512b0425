"""Test that the statistics count each survey that was sent, and its answer, on the same day."""

import json
from collections import Counter
from datetime import timedelta

import pytest

from admin.services.recount import recount as recount_module
from admin.services.recount.recount import recount
from admin.services.solicitation.manage import load_explanation, resend
from chalicelib.domain import clock
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.feedback.daily import DailyGroup
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
    RecipientNotVerified,
)
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.storage.forms import surveys
from chalicelib.storage.statistics import StatisticsRow, load_pages
from tests.services.solicitation.soliciting import CUSTOMER, Shop, outcome, stored

DAY = timedelta(days=1)


def days(shop: Shop) -> dict[str, Counter[str]]:
    """Return the numbers of each day with numbers. Check that they belong to the survey."""
    found: dict[str, Counter[str]] = {}
    for key, numbers in next(load_pages(shop.account_id)):
        group = DailyGroup.parse(key)
        assert (group.form_id, group.store_id) == (shop.survey_id, shop.store_id)
        assert group.brand_id == shop.brand_id
        if +numbers:
            found.setdefault(group.day, Counter()).update(+numbers)
    return found


def answer(shop: Shop, purchase: Purchase) -> str:
    """Answer the survey about a purchase. Return the id of the processed feedback."""
    survey = surveys.find(shop.survey_id)
    assert survey
    (question,) = json.loads(survey.document)["fields"]
    fields = [{"id": question["id"], "values": ["9"]}]
    body = {"id": shop.survey_id, "tracker": stored(purchase).tracker_id, "fields": fields}
    submitted = submit_feedback(parse(body, SurveySubmission), SubmissionMetadata())
    process_feedback([submitted.id])
    return submitted.id


def today() -> str:
    return f"{clock.now():%F}"


def test_answer_counts_on_day_of_its_survey_and_feedback_on_its_own(shop: Shop) -> None:
    sent_on, purchase = today(), shop.record()
    shop.solicit()
    assert days(shop) == {sent_on: Counter(sent=1)}
    shop.time.ahead += DAY
    answer(shop, purchase)
    assert days(shop) == {
        sent_on: Counter(sent=1, answered=1),
        today(): Counter(feedback=1, r9=1, n9=1),
    }


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (MessageRejected("bad"), 0),
        (RecipientNotVerified("no"), 0),
        (MessageNotSent("throttled"), 1),  # the second attempt succeeds
        (OutcomeUnknown("late"), 1),
        (ValueError("unexpected"), 1),
    ],
)
def test_survey_counts_as_sent_if_it_may_have_been_sent(
    shop: Shop, error: Exception, number: int
) -> None:
    shop.provider.reactions = [error]
    shop.record()
    shop.solicit()
    assert days(shop) == ({today(): Counter(sent=number)} if number else {})


def test_deferred_survey_counts_on_day_on_which_it_is_sent(shop: Shop) -> None:
    shop.provider.reactions = [RecipientNotVerified("no")]
    shop.record()
    shop.solicit()
    shop.advance(DAY)
    assert days(shop) == {today(): Counter(sent=1)}


def test_survey_that_is_sent_again_counts_on_its_last_day(shop: Shop) -> None:
    shop.provider.reactions = [OutcomeUnknown("late")]
    shop.record(externalId="1")
    shop.solicit()
    shop.time.ahead += DAY
    resend(load_explanation(shop.account_id, DataSource("Site"), "1"))
    shop.solicit()
    assert days(shop) == {today(): Counter(sent=1)}


def test_survey_that_may_have_been_sent_counts_although_it_is_skipped_later(shop: Shop) -> None:
    shop.provider.reactions = [OutcomeUnknown("late")]
    purchase = shop.record(externalId="1")
    shop.solicit()
    resend(load_explanation(shop.account_id, DataSource("Site"), "1"))
    shop.suppress(CUSTOMER["email"], SuppressionReason.UNSUBSCRIBED)
    shop.solicit()
    assert outcome(purchase) == ("SKIPPED", "SUPPRESSED")
    assert days(shop) == {today(): Counter(sent=1)}


def test_erasure_keeps_numbers(shop: Shop) -> None:
    purchase = shop.record()
    shop.solicit()
    answer(shop, purchase)
    before = days(shop)
    assert purchase.customer_id
    continue_erasure(start_erasure(shop.account_id, purchase.customer_id, "anna").pointer)
    assert days(shop) == before


def test_recount_restores_lost_statistics(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("statistics", "recount"):
        monkeypatch.setattr(f"admin.services.recount.{module}.MAX_CONCURRENCY", 1)
    monkeypatch.setattr(recount_module, "INDEX_LAG_S", 0)
    shop.provider.reactions = [MessageRejected("bad"), OutcomeUnknown("late")]
    customers = [{"email": f"{name}@example.test", "emailOptin": True} for name in "abcd"]
    purchases = [shop.record(customer=customer) for customer in customers]
    shop.solicit()
    *_, answered = sorted(purchases, key=lambda p: stored(p).state == "SENT")
    answer(shop, answered)
    before = days(shop)
    assert before == {today(): Counter(sent=3, answered=1, feedback=1, r9=1, n9=1)}
    for row in StatisticsRow.query(shop.account_id):
        row.delete()
    assert {d.name for d in recount(shop.account_id, fix=False)} <= {"feedback", "sent"}
    assert all(difference.is_repaired for difference in recount(shop.account_id, fix=True))
    assert days(shop) == before
    assert list(recount(shop.account_id, fix=False)) == []
