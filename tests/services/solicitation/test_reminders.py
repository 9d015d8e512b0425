"""Tests of reminders: one, of an unanswered survey, unless something speaks against it."""

from collections.abc import Callable
from contextvars import Context
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from admin.services.accounts.manage import read_stats
from admin.services.accounts.settings import change_account_settings
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
)
from chalicelib.domain.solicitation.solicitation import (
    Solicitation,
    SolicitationPointer,
    reminder_id,
)
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.save_taps import save_taps
from chalicelib.services.feedback.submit import SubmissionMetadata
from chalicelib.services.solicitation import send_survey
from chalicelib.services.solicitation.case import load_case, surveys_of
from chalicelib.services.solicitation.survey_trackers import cancel_survey, read_survey_tracker
from chalicelib.storage.dynamodb.table import connection
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.messages import MessageRow
from chalicelib.storage.solicitations import SolicitationRow
from tests.aws.faults import Killed, before_request
from tests.services.erasure.erasing import erase, erased, finish
from tests.services.purchases import record_purchase
from tests.services.solicitation.soliciting import CUSTOMER, DAY_S, Shop, stored, use_tracker

AFTER = timedelta(days=3, seconds=10)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """Let the survey have a reminder after three days."""
    shop.survey(reminderDelay=3 * DAY_S)
    return shop


def sent(shop: Shop) -> Purchase:
    """Record a purchase and send its survey."""
    purchase = shop.record()
    shop.solicit()
    return purchase


def reminder(purchase: Purchase, shop: Shop) -> Solicitation | None:
    case = load_case(Rows(), SolicitationPointer(shop.account_id, reminder_id(purchase.id), None))
    return case.solicitation if case else None


def outcome(purchase: Purchase, shop: Shop) -> tuple[str, str]:
    found = reminder(purchase, shop)
    assert found
    return found.state.value, found.reason


def answer(purchase: Purchase, *_: Any) -> None:
    tracker_id = stored(purchase).tracker_id
    assert tracker_id
    use_tracker(tracker_id)


def tap(purchase: Purchase, shop: Shop, step: str = "save") -> None:
    (survey,) = surveys_of(shop.account_id)
    body = {
        "id": shop.survey_id,
        "tracker": stored(purchase).tracker_id,
        "step": step,
        "fields": [{"id": survey.fields[0].id, "values": ["9"]}] if step == "save" else [],
    }
    save_taps(parse(body, SurveySubmission), SubmissionMetadata())


def cancel(purchase: Purchase, shop: Shop) -> None:
    cancel_survey(shop.account_id, purchase.id)


def suppress(reason: SuppressionReason, _: Purchase, shop: Shop) -> None:
    shop.suppress(str(CUSTOMER["email"]), reason)


def move(purchase: Purchase, shop: Shop) -> None:
    other = {"email": "ana@example.test", "emailOptin": True}
    definition = shop.definition(externalId=purchase.external_id, customer=other)
    record_purchase(shop.account_id, definition, solicit=True)


def erase_customer(purchase: Purchase, shop: Shop) -> None:
    assert purchase.customer_id
    erase(shop.account_id, purchase.customer_id)


def test_unanswered_survey_is_repeated_once_with_same_tracker(shop: Shop) -> None:
    purchase = sent(shop)
    shop.advance(AFTER - MINUTE)
    assert len(shop.provider.sent) == 1
    shop.advance(2 * MINUTE)
    first, second = shop.provider.sent
    assert (first.solicitation.is_reminder, second.solicitation.is_reminder) == (False, True)
    assert first.tracker_id == second.tracker_id
    assert outcome(purchase, shop) == ("SENT", "")
    tracker = read_survey_tracker(shop.account_id, purchase.id)
    assert tracker.sent_at
    assert tracker.reminded_at
    assert tracker.reminded_at >= tracker.sent_at + timedelta(days=3)
    shop.advance(timedelta(days=60))
    assert len(shop.provider.sent) == 2
    assert read_stats(shop.account_id)["surveys_sent"] == 1


def test_survey_without_reminder_stays_single(shop: Shop) -> None:
    shop.survey()
    purchase = sent(shop)
    shop.advance(timedelta(days=30))
    assert reminder(purchase, shop) is None
    assert len(shop.provider.sent) == 1


def test_reminder_takes_six_requests(shop: Shop) -> None:
    sent(shop)
    shop.time.ahead += AFTER
    pointer = SolicitationPointer(
        shop.account_id, reminder_id(shop.provider.sent[0].purchase.id), None
    )
    load_case(Rows(), pointer)  # caches places, settings and surveys
    with counted_calls() as calls:
        assert send_survey.send_survey(pointer) is send_survey.SendingOutcome.SENT
    assert calls.total() == 5  # The provider's request is not counted here.


CANCELLATIONS: dict[str, Callable[[Purchase, Shop], object]] = {
    "ANSWERED": answer,
    "tapped": tap,
    "followed": partial(tap, step="follow"),
    "CANCELLED": cancel,
    "SUPPRESSED": partial(suppress, SuppressionReason.UNSUBSCRIBED),
    "BOUNCED": partial(suppress, SuppressionReason.BOUNCED),
    "NO_CUSTOMER": erase_customer,
    "moved": move,
}
REASONS = {"moved": "NO_CUSTOMER", "tapped": "ANSWERED", "followed": "ANSWERED"}


@pytest.mark.parametrize("reason", CANCELLATIONS)
def test_reminder_is_cancelled(shop: Shop, reason: str) -> None:
    purchase = sent(shop)
    CANCELLATIONS[reason](purchase, shop)
    shop.advance(AFTER)
    expected = REASONS.get(reason, reason)
    assert outcome(purchase, shop) == ("SKIPPED", expected)
    assert len(shop.provider.sent) == 1
    assert read_stats(shop.account_id)["surveys_skipped"] == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"enabled": False}, "DISABLED"),
        ({"targets": []}, "DISABLED"),
        ({}, "NOT_REQUESTED"),
        ({"sendingChannels": ["SMS"], "reminderDelay": DAY_S}, "NO_CHANNEL"),
    ],
)
def test_current_survey_decides_about_reminder(
    shop: Shop, change: dict[str, Any], reason: str
) -> None:
    purchase = sent(shop)
    shop.survey(**change)
    shop.advance(AFTER)
    assert outcome(purchase, shop) == ("SKIPPED", reason)
    assert len(shop.provider.sent) == 1


def test_purchase_of_other_customer_and_later_survey_prevent_reminder(shop: Shop) -> None:
    shop.survey(reminderDelay=3 * DAY_S, resolicitationDelay=DAY_S)
    moved = sent(shop)
    move(moved, shop)
    shop.advance(timedelta(days=2, hours=12))
    other = sent(shop)
    assert stored(other).state == "SENT"
    shop.advance(timedelta(hours=13))
    assert outcome(moved, shop) == ("SKIPPED", "NO_CUSTOMER")
    shop.advance(timedelta(days=2))
    later = sent(shop)
    shop.advance(timedelta(hours=12))
    assert stored(later).state == "SENT"
    assert outcome(other, shop) == ("SKIPPED", "ALREADY_SOLICITED")
    assert len(shop.provider.sent) == 3


@pytest.mark.parametrize("request_number", range(5))
def test_nothing_is_sent_after_cancellation_before_claim(shop: Shop, request_number: int) -> None:
    for reason, change in CANCELLATIONS.items():
        clear_caches()
        purchase = record_purchase(
            shop.account_id,
            shop.definition(customer={"email": f"{reason}@example.test", "emailOptin": True}),
            solicit=True,
        )
        shop.solicit()
        pointer = SolicitationPointer(shop.account_id, reminder_id(purchase.id), None)
        shop.time.ahead += AFTER
        load_case(Rows(), pointer)
        shop.provider.sent.clear()

        def act(purchase: Purchase = purchase, change: Any = change, reason: str = reason) -> None:
            if reason in ("SUPPRESSED", "BOUNCED"):
                at = SuppressionReason.UNSUBSCRIBED
                shop.suppress(f"{reason}@example.test", at)
            else:
                change(purchase, shop)

        with before_request(request_number, act):
            send_survey.send_survey(pointer)
        is_claimed_before = request_number > 3
        assert (reason, len(shop.provider.sent)) == (reason, int(is_claimed_before))


@pytest.mark.parametrize(
    "reaction", [OutcomeUnknown("ReadTimeout"), Killed(), MessageRejected("x")]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_message_without_known_success_is_never_repeated(
    shop: Shop, reaction: BaseException, is_first: bool
) -> None:
    shop.provider.reactions = [reaction] if is_first else [lambda _: None, reaction]
    shop.provider.fails_after_sending = True
    with_kill: Callable[[], object] = shop.solicit
    purchase = shop.record()
    for step in (with_kill, lambda: shop.advance(AFTER), lambda: shop.advance(AFTER)):
        try:
            step()
        except Killed:
            continue
    for _ in range(3):
        shop.advance(timedelta(days=5))
    assert len(shop.provider.sent) == (1 if is_first else 2)
    tracker = read_survey_tracker(shop.account_id, purchase.id)
    assert tracker.reminded_at is None
    rejected = isinstance(reaction, MessageRejected)
    if is_first:
        assert reminder(purchase, shop) is None
        assert tracker.state.value == ("REJECTED" if rejected else "UNKNOWN")
    else:
        assert tracker.state.value == "SENT"
        assert outcome(purchase, shop)[0] == ("REJECTED" if rejected else "UNKNOWN")


def test_throttled_reminder_is_deferred_and_sent_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    purchase = sent(shop)
    monkeypatch.setattr("chalicelib.backoff.Backoff.pause", lambda _: False)
    shop.provider.reactions = [MessageNotSent("Throttling")]
    shop.advance(AFTER)
    assert outcome(purchase, shop) == ("PENDING", "Throttling")
    shop.advance(timedelta(hours=1))
    assert outcome(purchase, shop)[0] == "SENT"
    assert len(shop.provider.sent) == 2


def test_reminder_waits_for_sending_hours(shop: Shop) -> None:
    purchase = sent(shop)
    start = clock.now() + timedelta(hours=3)
    hours = {"start": f"{start:%H:00}", "end": f"{start:%H:59}"}
    change_account_settings(shop.account_id, {"sendingHours": hours}, "operator")
    clear_caches()
    shop.advance(AFTER)
    assert outcome(purchase, shop) == ("PENDING", "SENDING_HOURS")
    answer(purchase)
    shop.advance(timedelta(days=1))
    assert outcome(purchase, shop) == ("SKIPPED", "ANSWERED")
    assert len(shop.provider.sent) == 1


@pytest.mark.parametrize("is_during_sending", [False, True])
def test_erasure_deletes_message_of_reminder(shop: Shop, is_during_sending: bool) -> None:
    purchase = sent(shop)
    if is_during_sending:
        # An operator erases the customer while the worker sends the reminder.
        shop.provider.reactions = [lambda _: Context().run(erase_customer, purchase, shop)]
    shop.advance(AFTER)
    assert len(shop.provider.sent) == 2
    if not is_during_sending:
        erase_customer(purchase, shop)
    assert purchase.customer_id
    ended = finish(shop.account_id, purchase.customer_id, shop.time)
    assert erased(ended)["messages"] == (1 if is_during_sending else 2)
    assert [row for row in MessageRow.scan() if row.account_id == shop.account_id] == []
    shop.advance(timedelta(hours=1))
    assert outcome(purchase, shop)[0] == ("UNKNOWN" if is_during_sending else "SENT")


def test_reminder_is_not_sent_again_after_restore_from_backup(shop: Shop) -> None:
    purchase = sent(shop)
    name, table = SolicitationRow.table_name(), connection()
    key = {"solicitation_id": {"S": reminder_id(purchase.id)}}
    backup = table.dispatch("GetItem", {"TableName": name, "Key": key})["Item"]
    shop.advance(AFTER)
    table.dispatch("PutItem", {"TableName": name, "Item": backup})
    shop.advance(AFTER)
    assert outcome(purchase, shop) == ("SKIPPED", "ALREADY_SOLICITED")
    assert len(shop.provider.sent) == 2


def test_duplicate_messages_send_one_reminder(shop: Shop) -> None:
    purchase = sent(shop)
    shop.time.ahead += AFTER
    pointer = SolicitationPointer(shop.account_id, reminder_id(purchase.id), None)
    for number in range(6):
        with before_request(number, lambda: send_survey.send_survey(pointer)):
            send_survey.send_survey(pointer)
    assert len(shop.provider.sent) == 2


def test_survey_waits_for_delay_after_end_date(shop: Shop) -> None:
    shop.survey(
        solicitationDelay=DAY_S, solicitationDelayFrom="END_DATE", solicitationThreshold=DAY_S
    )
    end = format_timestamp(clock.now() + timedelta(days=3))
    definition = shop.definition(endDate=end)
    purchase = record_purchase(shop.account_id, definition, solicit=True)
    shop.solicit()
    assert (stored(purchase).state, stored(purchase).reason) == ("PENDING", "DELAY")
    shop.advance(timedelta(days=2))
    # An update does not make the purchase too old.
    record_purchase(shop.account_id, {**definition, "metadata": {"room": "12"}}, solicit=True)
    shop.solicit()
    shop.advance(timedelta(days=2) - MINUTE)
    assert not shop.provider.sent
    suppress(SuppressionReason.UNSUBSCRIBED, purchase, shop)
    shop.advance(2 * MINUTE)
    assert (stored(purchase).state, stored(purchase).reason) == ("SKIPPED", "SUPPRESSED")


def test_cancellation_ends_delayed_survey(shop: Shop) -> None:
    shop.survey(solicitationDelay=DAY_S)
    purchase = sent(shop)
    cancel(purchase, shop)
    shop.advance(timedelta(days=2))
    assert (stored(purchase).state, stored(purchase).reason) == ("SKIPPED", "CANCELLED")
    assert not shop.provider.sent


def test_survey_and_reminder_follow_after_a_minute_each(shop: Shop) -> None:
    shop.survey(solicitationDelay=60, reminderDelay=60)
    shop.record(date=format_timestamp(clock.now()))
    shop.solicit()
    sent_counts = []
    for seconds in (50, 20, 50, 20, 600):
        shop.advance(timedelta(seconds=seconds))
        sent_counts.append(len(shop.provider.sent))
    assert sent_counts == [0, 1, 1, 2, 2]
