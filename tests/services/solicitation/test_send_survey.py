"""Test that a survey is sent at most once and that its outcome is stored."""

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from admin.services.accounts.manage import read_stats
from admin.services.accounts.settings import change_account_settings
from admin.services.customers.save import save_customer
from admin.services.solicitation.manage import load_explanation, resend
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import phone_hash
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.errors import Conflict, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import WEAK_REASONS, SuppressionReason
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
    RecipientNotVerified,
    RecipientOptedOut,
)
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.change import change_customer
from chalicelib.services.customers.read import read_customer
from chalicelib.services.solicitation import send_survey
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import contacts, trackers
from chalicelib.storage.contacts import contact_key
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.messages import find_message
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.suppressions import suppress
from chalicelib.storage.trackers import TrackerRow
from chalicelib.time_limits import MAX_CALL_S, MAX_SEND_S, MIN_CALL_S
from tests.aws.faults import InjectedFault, Killed, before_request, inject_fault
from tests.policies import allowed
from tests.services.kinds import SOLICITATIONS
from tests.services.queues import SOLICITATION_QUEUE
from tests.services.solicitation.soliciting import Shop, outcome, stored, use_tracker
from tests.web.definitions import customer_definition

SIX_MINUTES = timedelta(minutes=6)


def test_survey_is_sent_and_outcome_stored(shop: Shop) -> None:
    purchase = shop.record()
    assert shop.solicit() == []
    (invitation,) = shop.provider.sent
    assert (invitation.channel, invitation.survey.id) == (Channel.EMAIL, shop.survey_id)
    assert invitation.store
    assert invitation.brand
    assert (invitation.store.id, invitation.brand.id) == (shop.store_id, shop.brand_id)
    solicitation = stored(purchase)
    assert outcome(purchase) == ("SENT", "")
    assert solicitation.tracker_id == invitation.tracker_id
    assert solicitation.due_at is None
    tracker = trackers.find(invitation.tracker_id)
    assert tracker
    assert (tracker.purchase_id, tracker.customer_id, tracker.send_mode, tracker.used_at) == (
        purchase.id,
        purchase.customer_id,
        "EMAIL",
        None,
    )
    message = find_message(solicitation.message_id or "")
    assert message
    email = contact_key(shop.contact_hash("ZOE@example.test"))
    assert (message.solicitation_id, message.contact_key) == (purchase.id, email)


def test_second_purchase_within_delay_is_skipped(shop: Shop) -> None:
    first, second = shop.record(), shop.record()
    shop.solicit()
    assert sorted([outcome(first), outcome(second)]) == [
        ("SENT", ""),
        ("SKIPPED", "ALREADY_SOLICITED"),
    ]
    assert len(shop.provider.sent) == 1


@pytest.mark.parametrize(
    ("after", "expected"),
    [(timedelta(days=30, seconds=-2), "SKIPPED"), (timedelta(days=30, seconds=2), "SENT")],
)
def test_survey_is_sent_only_after_resolicitation_delay(
    shop: Shop, after: timedelta, expected: str
) -> None:
    shop.record()
    shop.solicit()
    shop.time.ahead += after
    purchase = shop.record()
    shop.solicit()
    assert stored(purchase).state == expected


def test_two_customers_with_same_address_receive_one_survey(shop: Shop) -> None:
    shop.record(customer={"email": "zoe@example.test", "emailOptin": True})
    other = {"email": "Zoe@example.test", "phoneNumber": "+33612345678", "emailOptin": True}
    shop.record(customer=other)
    shop.solicit()
    assert len(shop.provider.sent) == 1


def test_national_and_international_notation_identify_same_contact(shop: Shop) -> None:
    change_account_settings(shop.account_id, {"defaultRegion": "FR"}, "operator")
    clear_caches()
    for number in ("06 12 34 56 78", "+33 (0)6 12 34 56 78", "+33612345678"):
        shop.record(customer={"phoneNumber": number, "smsOptin": True})
    shop.solicit()
    assert len(shop.provider.sent) == 1


def limit_texts(shop: Shop, limit: int) -> None:
    change_account_settings(
        shop.account_id, {"defaultRegion": "FR", "smsDailyLimit": limit}, "operator"
    )
    shop.survey(sendingChannels=["SMS"])


def record_for(shop: Shop, number: str) -> Purchase:
    return shop.record(customer={"phoneNumber": number, "smsOptin": True})


def test_daily_limit_of_text_messages_holds_further_surveys_until_next_day(shop: Shop) -> None:
    limit_texts(shop, 2)
    purchases = [record_for(shop, f"+3361234567{digit}") for digit in range(3)]
    shop.solicit()
    assert sorted(outcome(purchase) for purchase in purchases) == [
        ("PENDING", "DAILY_LIMIT"),
        ("SENT", ""),
        ("SENT", ""),
    ]
    shop.advance(timedelta(days=1))
    assert len(shop.provider.sent) == 3


def test_daily_limit_of_text_messages_holds_with_concurrent_claims(shop: Shop) -> None:
    limit_texts(shop, 1)
    first_purchase = record_for(shop, "+33612345670")
    first = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    record_for(shop, "+33612345671")
    second = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    # The second worker claims between the reads and the claim of the first.
    with before_request("TransactWriteItems", lambda: SOLICITATION_QUEUE.deliver(second)):
        SOLICITATION_QUEUE.deliver(first)
    assert len(shop.provider.sent) == 1
    assert outcome(first_purchase) == ("PENDING", "DAILY_LIMIT")


def test_survey_of_two_workers_at_once_is_sent_once(shop: Shop) -> None:
    purchase = shop.record()
    delivered_twice = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    with before_request("TransactWriteItems", lambda: SOLICITATION_QUEUE.deliver(delivered_twice)):
        SOLICITATION_QUEUE.deliver(delivered_twice)
    assert len(shop.provider.sent) == 1
    assert outcome(purchase) == ("SENT", "")


def test_retry_of_text_message_does_not_count_twice(shop: Shop) -> None:
    limit_texts(shop, 1)
    shop.provider.reactions = [RecipientNotVerified("deferred")]
    purchase = record_for(shop, "+33612345670")
    shop.solicit()
    assert outcome(purchase) == ("PENDING", "deferred")
    SolicitationRow(purchase.id).update([SolicitationRow.due_at.set(0)])
    shop.advance(timedelta())
    assert outcome(purchase) == ("SENT", "")
    later = record_for(shop, "+33612345671")
    shop.solicit()
    assert outcome(later) == ("PENDING", "DAILY_LIMIT")


def test_opted_out_phone_number_is_suppressed(shop: Shop) -> None:
    limit_texts(shop, 10)
    shop.provider.reactions = [RecipientOptedOut("OptedOut")]
    purchase = record_for(shop, "+33612345670")
    shop.solicit()
    assert outcome(purchase) == ("SKIPPED", "SUPPRESSED")
    assert purchase.customer_id
    assert not read_customer(shop.account_id, purchase.customer_id).sms_optin
    contact_hash = phone_hash(shop.account_id, "+33612345670") or ""
    (contact,) = contacts.find_many([contact_key(contact_hash)]).values()
    assert contact.suppressed == {Channel.SMS: SuppressionReason.UNSUBSCRIBED}


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (timedelta(hours=71, minutes=59), "PENDING"),
        (timedelta(hours=72), "REJECTED"),
    ],
)
def test_survey_for_unverified_recipient_is_rejected_after_three_days(
    shop: Shop, ahead: timedelta, expected: str
) -> None:
    shop.provider.reactions = [RecipientNotVerified("not verified")] * 2
    purchase = shop.record()
    shop.solicit()
    assert outcome(purchase) == ("PENDING", "not verified")
    assert len(shop.provider.reactions) == 1
    shop.advance(ahead)
    assert outcome(purchase) == (expected, "not verified")


def test_concurrent_purchases_of_one_customer_send_one_survey(shop: Shop) -> None:
    shop.record()
    first = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    shop.record()
    second = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    # The second worker claims between the reads and the claim of the first.
    with before_request("TransactWriteItems", lambda: SOLICITATION_QUEUE.deliver(second)):
        SOLICITATION_QUEUE.deliver(first)
    assert len(shop.provider.sent) == 1


@pytest.mark.parametrize("reason", ["SUPPRESSED", "NO_CONSENT"])
def test_refusal_between_reading_facts_and_claim_prevents_message(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    purchase = shop.record()

    def refuse() -> None:
        if reason == "SUPPRESSED":
            shop.suppress("zoe@example.test", SuppressionReason.UNSUBSCRIBED)
        else:
            withdrawn = {"id": purchase.customer_id, "emailOptin": False, "smsOptin": False}
            save_customer(shop.account_id, withdrawn)

    with before_request("TransactWriteItems", refuse):
        shop.solicit()
    assert outcome(purchase) == ("SKIPPED", reason)
    assert shop.provider.sent == []


@pytest.mark.parametrize("channel", Channel)
@pytest.mark.parametrize("change", ["address", "optin", "bounce"])
def test_change_of_recipient_between_reading_facts_and_claim_counts(
    shop: Shop, channel: Channel, change: str
) -> None:
    limit_texts(shop, 10)
    shop.survey(sendingChannels=[channel])
    optin, address, old, new = {
        Channel.EMAIL: ("email_optin", "email", "zoe@example.test", "new@example.test"),
        Channel.SMS: ("sms_optin", "phone_number", "+33612345678", "+33612345679"),
    }[channel]
    body = {"email": old, "emailOptin": True}
    if channel is Channel.SMS:
        body = {"phoneNumber": old, "smsOptin": True}
    purchase = shop.record(customer=body)
    values = {"address": (address, new), "optin": (optin, False), "bounce": ("email_bounced", True)}
    name, value = values[change]

    def change_recipient() -> None:
        row = CustomerRow(account_key(shop.account_id, purchase.customer_id or ""))
        row.update([getattr(CustomerRow, name).set(value)])

    with before_request("TransactWriteItems", change_recipient):
        shop.solicit()
    sent = [(each.customer.email, each.customer.phone_number) for each in shop.provider.sent]
    if change == "address":
        assert sent == [(new, None) if channel is Channel.EMAIL else (None, new)]
    else:
        is_sent = change == "bounce" and channel is Channel.SMS
        assert len(sent) == is_sent


def test_survey_is_sent_only_if_time_is_left_for_claim_message_and_outcome(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed_s = MAX_CALL_S + MAX_SEND_S + MIN_CALL_S
    for time_left_s, sent in ((needed_s - 0.1, 0), (needed_s, 1)):
        monkeypatch.setattr(send_survey, "time_left_s", lambda left=time_left_s: left)
        shop.record(customer={"email": f"{sent}@example.test", "emailOptin": True})
        shop.solicit()
        assert len(shop.provider.sent) == sent


@pytest.mark.parametrize(
    ("email", "expected"),
    [("zoe@example.test", ("SENT", "")), ("", ("SKIPPED", "SUPPRESSED"))],
)
def test_optin_of_suppressed_number_in_national_notation_is_turned_off(
    shop: Shop, email: str, expected: tuple[str, str]
) -> None:
    change_account_settings(shop.account_id, {"defaultRegion": "FR"}, "operator")
    shop.survey(sendingChannels=["SMS", "EMAIL"])
    customer = {"phoneNumber": "06 12 34 56 78", "email": email, "emailOptin": True}
    purchase = shop.record(customer=customer | {"smsOptin": True})
    contact_hash = phone_hash(shop.account_id, "+33612345678") or ""
    reason = SuppressionReason.UNSUBSCRIBED
    suppress(shop.account_id, contact_hash, Channel.SMS, reason, clock.now())
    with inject_fault() as requests:
        shop.solicit()
    assert outcome(purchase) == expected
    assert requests.operations.count("TransactWriteItems") == (2 if email else 1)
    assert purchase.customer_id
    stored_customer = read_customer(shop.account_id, purchase.customer_id)
    assert (stored_customer.sms_optin, stored_customer.email_optin) == (False, True)


@pytest.mark.parametrize(
    ("changed", "optins"),
    [({"email": "new@example.test"}, (True, False)), ({"phoneNumber": "+1"}, (False, True))],
)
def test_optin_of_address_that_changes_while_survey_is_skipped_stays_on(
    shop: Shop, changed: dict[str, str], optins: tuple[bool, bool]
) -> None:
    number, on = "+33612345678", {"emailOptin": True, "smsOptin": True}
    customer = {"email": "zoe@example.test", "phoneNumber": number, **on}
    purchase = shop.record(customer=customer)
    shop.suppress("zoe@example.test", SuppressionReason.UNSUBSCRIBED)
    contact_hash, reason = phone_hash(shop.account_id, number) or "", SuppressionReason.UNSUBSCRIBED
    suppress(shop.account_id, contact_hash, Channel.SMS, reason, clock.now())
    customer_id = purchase.customer_id or ""
    # The suppressions did not find the customer, because the index was out of date.
    CustomerRow(account_key(shop.account_id, customer_id)).update(
        [CustomerRow.email_optin.set(True), CustomerRow.sms_optin.set(True)]
    )
    patch = CustomerPatch.model_validate(changed)
    with before_request(
        "TransactWriteItems", lambda: change_customer(shop.account_id, customer_id, patch)
    ):
        shop.solicit()
    found = read_customer(shop.account_id, customer_id)
    assert (found.email_optin, found.sms_optin) == optins


def test_unsubscription_changes_all_customers_with_address(shop: Shop) -> None:
    customer_ids = [
        save_customer(shop.account_id, customer_definition(email=email, emailOptin=True)).id
        for email in ("zoe@example.test", "Zoe@example.test", "ZOE@example.test", "b@example.test")
    ]
    shop.suppress("zoe@example.test", SuppressionReason.UNSUBSCRIBED)
    optins = [read_customer(shop.account_id, key).email_optin for key in customer_ids]
    assert optins == [False, False, False, True]


def test_unsubscription_skips_customer_whose_address_changes(shop: Shop) -> None:
    old, new = (
        customer_definition(email=email, emailOptin=True)
        for email in ("zoe@example.test", "new@example.test")
    )
    changed = save_customer(shop.account_id, old)
    unchanged = save_customer(shop.account_id, old | {"id": new_id()})

    def change_address() -> None:
        save_customer(shop.account_id, new | {"id": changed.id})

    with before_request(1, change_address):
        shop.suppress("zoe@example.test", SuppressionReason.UNSUBSCRIBED)
    assert read_customer(shop.account_id, changed.id).email_optin
    assert not read_customer(shop.account_id, unchanged.id).email_optin


def test_bounce_marks_address_and_keeps_optin(shop: Shop) -> None:
    purchase = shop.record()
    shop.solicit()
    shop.suppress("zoe@example.test", SuppressionReason.BOUNCED)
    assert purchase.customer_id
    customer = read_customer(shop.account_id, purchase.customer_id)
    assert (customer.email_bounced, customer.email_optin) == (True, True)


@pytest.mark.parametrize("reason", [r for r in SuppressionReason if r not in WEAK_REASONS])
def test_bounce_in_any_order_does_not_replace_other_reason(
    shop: Shop, reason: SuppressionReason
) -> None:
    key = contact_key(shop.contact_hash("zoe@example.test"))
    for event in (SuppressionReason.BOUNCED, reason, SuppressionReason.BOUNCED):
        shop.suppress("zoe@example.test", event)
    assert contacts.find_many([key])[key].suppressed == {Channel.EMAIL: reason}


def test_purchase_does_not_turn_on_optin_of_suppressed_address(shop: Shop) -> None:
    shop.record()
    shop.solicit()
    shop.suppress("zoe@example.test", SuppressionReason.UNSUBSCRIBED)
    shop.time.ahead += timedelta(days=40)
    purchase = shop.record()
    assert purchase.customer_id
    assert read_customer(shop.account_id, purchase.customer_id).email_optin is False
    shop.solicit()
    assert outcome(purchase) == ("SKIPPED", "SUPPRESSED")
    other = shop.record(
        customer={"email": "ZOE@example.test", "phoneNumber": "1", "emailOptin": True}
    )
    shop.solicit()
    assert outcome(other) == ("SKIPPED", "SUPPRESSED")
    assert len(shop.provider.sent) == 1


@pytest.mark.parametrize(
    ("error", "state"),
    [(MessageRejected("bad"), "REJECTED"), (OutcomeUnknown("late"), "UNKNOWN")],
)
def test_rejected_or_unknown_outcome_starts_resolicitation_delay(
    shop: Shop, error: Exception, state: str
) -> None:
    shop.provider.reactions = [error]
    purchase = shop.record()
    shop.solicit()
    assert outcome(purchase) == (state, str(error))
    shop.advance(timedelta(hours=1))
    other = shop.record()
    shop.solicit()
    assert outcome(other) == ("SKIPPED", "ALREADY_SOLICITED")
    assert shop.provider.sent == []


def test_each_outcome_is_counted_once(shop: Shop) -> None:
    shop.provider.reactions = [MessageRejected("bad"), OutcomeUnknown("late")]
    for address in ("a@example.test", "b@example.test", "c@example.test", "a@example.test"):
        shop.record(customer={"email": address, "emailOptin": True})
        bodies = SOLICITATION_QUEUE.queued_messages(shop.account_id)
        for _ in range(2):
            SOLICITATION_QUEUE.deliver(bodies)
    stats = read_stats(shop.account_id)
    counts = (stats["surveys_sent"], stats["surveys_rejected"], stats["surveys_unknown"])
    assert (*counts, stats["surveys_skipped"]) == (1, 1, 1, 1)


def test_resent_survey_is_counted_with_its_last_outcome(shop: Shop) -> None:
    shop.provider.reactions = [OutcomeUnknown("late")]
    shop.record(externalId="1")
    shop.solicit()
    resend(load_explanation(shop.account_id, DataSource("Site"), "1"))
    shop.solicit()
    stats = read_stats(shop.account_id)
    assert (stats["surveys_sent"], stats["surveys_unknown"]) == (1, 0)


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("request_number", [0, 1, 2, 3])
def test_count_of_unknown_outcomes_is_exact_despite_fault_when_survey_is_reopened(
    shop: Shop, request_number: int, fault: InjectedFault
) -> None:
    shop.provider.reactions = [OutcomeUnknown("late")]
    purchase = shop.record(externalId="1")
    shop.solicit()
    case = load_explanation(shop.account_id, DataSource("Site"), "1")
    errors = (Killed, ClientError, Unavailable)
    with inject_fault(request_number, fault), contextlib.suppress(*errors):
        resend(case)
    is_unknown = outcome(purchase)[0] == "UNKNOWN"
    assert read_stats(shop.account_id)["surveys_unknown"] == is_unknown


def test_survey_that_is_reopened_twice_at_once_is_counted_once(shop: Shop) -> None:
    shop.provider.reactions = [OutcomeUnknown("late")]
    purchase = shop.record(externalId="1")
    shop.solicit()
    case = load_explanation(shop.account_id, DataSource("Site"), "1")
    with (
        before_request("TransactWriteItems", lambda: resend(case)),
        pytest.raises(Conflict),
    ):
        resend(case)
    assert outcome(purchase)[0] == "PENDING"
    assert read_stats(shop.account_id)["surveys_unknown"] == 0


def tap_tracker(tracker_id: str) -> None:
    """Store that the respondent follows the offer of a review."""
    TrackerRow(tracker_id).update([TrackerRow.tapped_at.set(clock.now())])


@pytest.mark.parametrize("answer", [use_tracker, tap_tracker])
@pytest.mark.parametrize("is_late", [False, True])
def test_answered_survey_is_not_sent_again(
    shop: Shop, answer: Callable[[str], None], is_late: bool
) -> None:
    shop.provider.reactions = [OutcomeUnknown("late")]
    shop.provider.fails_after_sending = True
    purchase = shop.record(externalId="1")
    shop.solicit()
    resend(load_explanation(shop.account_id, DataSource("Site"), "1"))

    tracker_id = shop.provider.sent[0].tracker_id
    with before_request("TransactWriteItems" if is_late else 0, lambda: answer(tracker_id)):
        shop.solicit()
    assert outcome(purchase) == ("SKIPPED", "ALREADY_SOLICITED")
    assert len(shop.provider.sent) == 1
    stats = read_stats(shop.account_id)
    assert (stats["surveys_skipped"], stats["surveys_unknown"]) == (1, 0)


def test_survey_is_not_sent_again_after_restore_from_backup(shop: Shop) -> None:
    purchase = shop.record()
    backup = SolicitationRow.get(purchase.id)
    bodies = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    SOLICITATION_QUEUE.deliver(bodies)
    backup.save()
    SOLICITATION_QUEUE.deliver(bodies)
    assert outcome(purchase) == ("SKIPPED", "ALREADY_SOLICITED")
    assert len(shop.provider.sent) == 1


def test_deferred_survey_belongs_to_new_customer_of_purchase(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.backoff.Backoff.pause", lambda _: False)

    def move(_: object) -> None:
        with allowed("record_purchase"):
            shop.record(externalId="1", customer={"email": "b@example.test", "emailOptin": True})
        raise MessageNotSent("Throttling")

    shop.provider.reactions = [move]
    purchase = shop.record(externalId="1")
    shop.solicit()
    shop.advance(SIX_MINUTES)
    assert outcome(purchase) == ("SENT", "")
    (invitation,) = shop.provider.sent
    assert invitation.customer.email == "b@example.test"
    assert stored(purchase).customer_id == invitation.customer.id


def test_exception_while_rendering_leads_to_outcome_unknown(shop: Shop) -> None:
    shop.provider.reactions = [TypeError("defect")]
    purchase = shop.record()
    shop.solicit()
    assert outcome(purchase) == ("UNKNOWN", "TypeError")


def test_throttled_message_is_retried_immediately(shop: Shop) -> None:
    shop.provider.reactions = [MessageNotSent("Throttling")] * 3
    purchase = shop.record()
    shop.solicit()
    assert outcome(purchase) == ("SENT", "")
    assert len(shop.provider.sent) == 1


def test_message_that_stays_throttled_is_deferred_with_same_tracker(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.backoff.Backoff.pause", lambda _: False)
    shop.provider.reactions = [MessageNotSent("Throttling")] * 2
    purchase = shop.record()
    shop.solicit()
    deferred = stored(purchase)
    assert (deferred.state, deferred.reason, deferred.leased_until) == (
        "PENDING",
        "Throttling",
        None,
    )
    other = shop.record()
    shop.solicit()
    assert outcome(other) == ("SKIPPED", "ALREADY_SOLICITED")
    shop.advance(timedelta(seconds=6))
    assert stored(purchase).deferrals == 2
    shop.advance(SIX_MINUTES)
    assert outcome(purchase) == ("SENT", "")
    assert shop.provider.sent[0].tracker_id == deferred.tracker_id


def test_consent_is_checked_again_after_deferral(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.backoff.Backoff.pause", lambda _: False)
    shop.provider.reactions = [MessageNotSent("Throttling")]
    purchase = shop.record()
    shop.solicit()
    shop.suppress("zoe@example.test", SuppressionReason.COMPLAINT)
    shop.advance(SIX_MINUTES)
    assert outcome(purchase) == ("SKIPPED", "SUPPRESSED")
    assert shop.provider.sent == []


def test_killed_attempt_becomes_unknown_when_lease_ends(shop: Shop) -> None:
    shop.provider.reactions = [Killed()]
    shop.provider.fails_after_sending = True
    purchase = shop.record()
    with pytest.raises(Killed):
        shop.solicit()
    sweep(SOLICITATIONS)
    shop.advance(timedelta(seconds=100))
    assert stored(purchase).state == "PENDING"
    shop.advance(SIX_MINUTES)
    assert outcome(purchase)[0] == "UNKNOWN"
    shop.advance(SIX_MINUTES)
    assert len(shop.provider.sent) == 1


def test_future_purchase_is_held_until_its_date(shop: Shop) -> None:
    date = clock.now() + timedelta(days=3)
    purchase = shop.record(date=format_timestamp(date))
    shop.solicit()
    held = stored(purchase)
    assert (held.state, held.reason, held.held_until) == ("PENDING", "FUTURE_PURCHASE", date)
    shop.advance(timedelta(days=3, seconds=-2))
    assert shop.provider.sent == []
    shop.advance(timedelta(seconds=4))
    assert stored(purchase).state == "SENT"


def test_message_is_held_until_sending_hours_start(shop: Shop) -> None:
    hours = {"start": "09:00", "end": "20:00"}
    change_account_settings(shop.account_id, {"sendingHours": hours}, "operator")
    clear_caches()
    now = clock.now()
    night = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
    shop.time.ahead += night - now
    purchase = shop.record()
    shop.solicit()
    assert stored(purchase).held_until == night.replace(hour=9)
    # The age is evaluated only once, so the hold does not make the purchase too old.
    shop.survey(solicitationThreshold=3600)
    shop.advance(timedelta(hours=9, minutes=1))
    assert stored(purchase).state == "SENT"
    assert len(shop.provider.sent) == 1


def test_update_of_pending_purchase_changes_decision(shop: Shop) -> None:
    date = format_timestamp(clock.now() + timedelta(days=3))
    definition = shop.definition(date=date, externalId="booking")
    purchase = shop.record(**definition)
    shop.solicit()
    assert stored(purchase).held_until
    today = format_timestamp(clock.now() - timedelta(hours=1))
    shop.record(**{**definition, "date": today})
    assert stored(purchase).held_until is None
    shop.solicit()
    assert stored(purchase).state == "SENT"
    shop.record(**{**definition, "metadata": {"table": "4"}})
    shop.time.ahead += timedelta(days=60)
    shop.record(**{**definition, "metadata": {"table": "5"}})
    shop.solicit()
    assert len(shop.provider.sent) == 1


def test_update_between_reading_facts_and_claim_causes_new_decision(shop: Shop) -> None:
    definition = shop.definition(externalId="booking")
    purchase = shop.record(**definition)
    future = format_timestamp(clock.now() + timedelta(days=3))
    with before_request(
        "TransactWriteItems", lambda: shop.record(**{**definition, "date": future})
    ):
        shop.solicit()
    assert stored(purchase).reason == "FUTURE_PURCHASE"
    assert shop.provider.sent == []


def test_message_with_solicitation_of_other_account_is_ignored(shop: Shop) -> None:
    purchase = shop.record()
    (body,) = SOLICITATION_QUEUE.queued_messages(shop.account_id)
    assert SOLICITATION_QUEUE.deliver([body.replace(shop.account_id, "other")]) == []
    assert shop.provider.sent == []
    assert stored(purchase).state == "PENDING"
