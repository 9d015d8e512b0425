"""Tests of each rule of the decision, one second before and after each limit."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chalicelib.domain.accounts.settings import SendingHours, Weekday
from chalicelib.domain.forms.survey import ResolicitationMode
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.decide import (
    Facts,
    Hold,
    HoldReason,
    Send,
    Skip,
    SkipReason,
    decide,
    foresee,
)
from tests.domain.forms.factories import BRAND, OTHER_STORE, STORE
from tests.domain.solicitation.facts import (
    NOW,
    PURCHASE,
    SECOND,
    SECOND_SURVEY,
    SURVEY,
    facts,
    purchase,
    recipient,
    solicited,
    survey,
    target,
    with_contact,
)

DAY = timedelta(days=1)


def outcome(given: Facts) -> str:
    """Return the decision as a text: the channel, the reason to skip or the reason to hold."""
    decision = decide(given)
    return decision.channel.value if isinstance(decision, Send) else decision.reason.value


def chosen_survey(*surveys: Any) -> str:
    decision = decide(facts(surveys=surveys))
    assert isinstance(decision, Send)
    return decision.survey.id


def test_survey_is_sent_through_first_channel_of_survey() -> None:
    decision = decide(facts())
    assert isinstance(decision, Send)
    assert (decision.survey.id, decision.channel) == (SURVEY, Channel.EMAIL)


def test_purchase_without_request_is_skipped() -> None:
    assert outcome(facts(is_requested=False)) == "NOT_REQUESTED"


def test_purchase_without_customer_is_skipped() -> None:
    assert outcome(facts(recipient=None)) == "NO_CUSTOMER"


@pytest.mark.parametrize(
    ("date", "expected"),
    [(NOW, "EMAIL"), (NOW + SECOND, "FUTURE_PURCHASE"), (NOW - SECOND, "EMAIL")],
)
def test_future_purchase_is_held_until_its_date(date: datetime, expected: str) -> None:
    given = facts(purchase=purchase(date=date))
    assert outcome(given) == expected
    if expected == "FUTURE_PURCHASE":
        assert decide(given) == Hold(date, HoldReason.FUTURE_PURCHASE)


# Choice of the survey


def test_survey_of_store_precedes_older_survey_of_brand() -> None:
    of_brand = survey(SURVEY, target(BRAND, "BRAND"))
    of_store = survey(SECOND_SURVEY, target(STORE))
    assert chosen_survey(of_brand, of_store) == SECOND_SURVEY


def test_oldest_survey_of_same_place_is_chosen() -> None:
    assert chosen_survey(survey(SURVEY), survey(SECOND_SURVEY)) == SURVEY


def test_survey_of_brand_is_sent_for_its_stores() -> None:
    assert chosen_survey(survey(SURVEY, target(BRAND, "BRAND"))) == SURVEY


@pytest.mark.parametrize("disabled", ["survey", "target"])
def test_enabled_survey_is_chosen_instead_of_disabled_survey(disabled: str) -> None:
    first = _disabled(disabled)
    assert chosen_survey(first, survey(SECOND_SURVEY, target(BRAND, "BRAND"))) == SECOND_SURVEY


@pytest.mark.parametrize("disabled", ["survey", "target"])
def test_purchase_at_place_with_only_disabled_surveys_is_skipped(disabled: str) -> None:
    assert outcome(facts(surveys=[_disabled(disabled)])) == "DISABLED"


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"opensAt": NOW}, "EMAIL"),
        ({"opensAt": NOW + SECOND}, "DISABLED"),
        ({"closesAt": NOW + SECOND}, "EMAIL"),
        ({"closesAt": NOW}, "DISABLED"),
    ],
)
def test_survey_that_is_not_open_is_disabled(times: dict[str, datetime], expected: str) -> None:
    closed = survey(SURVEY, **{name: at.isoformat() for name, at in times.items()})
    assert outcome(facts(surveys=[closed])) == expected


def _disabled(what: str) -> Any:
    if what == "survey":
        return survey(SURVEY, enabled=False)
    return survey(SURVEY, target(STORE, enabled=False))


def test_purchase_at_place_without_survey_is_skipped() -> None:
    assert outcome(facts(surveys=[survey(SURVEY, target(OTHER_STORE))])) == "NO_SURVEY"
    assert outcome(facts(surveys=[])) == "NO_SURVEY"


def test_purchase_at_deleted_store_is_skipped() -> None:
    assert outcome(facts(store=None)) == "NO_SURVEY"


def test_survey_with_only_channel_link_is_never_sent() -> None:
    linked = survey(SURVEY, sendingChannels=["LINK"], publiclyAvailable=True)
    assert outcome(facts(surveys=[linked])) == "NO_CHANNEL"
    assert chosen_survey(linked, survey(SECOND_SURVEY)) == SECOND_SURVEY


# Age of the purchase


@pytest.mark.parametrize(
    ("age", "expected"),
    [(7 * DAY - SECOND, "EMAIL"), (7 * DAY, "EMAIL"), (7 * DAY + SECOND, "TOO_OLD")],
)
def test_purchase_older_than_threshold_is_skipped(age: timedelta, expected: str) -> None:
    assert outcome(facts(purchase=purchase(date=NOW - age))) == expected


def test_threshold_of_zero_means_no_maximum_age() -> None:
    given = facts(
        purchase=purchase(date=NOW - 4000 * DAY), surveys=[survey(solicitationThreshold=0)]
    )
    assert outcome(given) == "EMAIL"


@pytest.mark.parametrize(
    ("fields", "send_at", "expected"),
    [
        ({}, None, "EMAIL"),
        ({"solicitationDelay": 3600}, None, "EMAIL"),
        ({"solicitationDelay": 3601}, None, NOW + SECOND),
        ({"solicitationDelay": 3601}, NOW - SECOND, "EMAIL"),
        (
            {"solicitationDelay": 60, "solicitationDelayFrom": "END_DATE"},
            None,
            NOW + DAY + 60 * SECOND,
        ),
        ({"solicitationDelay": 60, "solicitationThreshold": 3599}, None, "TOO_OLD"),
    ],
)
def test_survey_waits_for_delay_after_purchase(
    fields: dict[str, Any], send_at: datetime | None, expected: object
) -> None:
    given = facts(
        purchase=purchase(end_date=NOW + DAY, send_at=send_at), surveys=[survey(**fields)]
    )
    decision = decide(given)
    is_held = isinstance(decision, Hold)
    assert (decision.until if is_held else outcome(given)) == expected
    assert not is_held or decision.reason is HoldReason.DELAY


def test_delay_after_last_date_ends_at_last_date() -> None:
    given = facts(
        purchase=purchase(end_date=datetime.max.replace(tzinfo=UTC)),
        surveys=[survey(solicitationDelay=60, solicitationDelayFrom="END_DATE")],
    )
    assert decide(given) == Hold(datetime.max.replace(tzinfo=UTC), HoldReason.DELAY)


@pytest.mark.parametrize(
    ("processed", "expected"), [(7 * DAY, "EMAIL"), (7 * DAY + SECOND, "TOO_OLD")]
)
def test_age_of_purchase_is_evaluated_only_at_first_processing(
    processed: timedelta, expected: str
) -> None:
    made_at = NOW - 30 * DAY
    given = facts(purchase=purchase(date=made_at), processed_at=made_at + processed)
    assert outcome(given) == expected


# Resolicitation


@pytest.mark.parametrize("contact", ["record", "email", "phone"])
@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (-SECOND, "ALREADY_SOLICITED"),
        (timedelta(), "ALREADY_SOLICITED"),
        (30 * DAY - SECOND, "ALREADY_SOLICITED"),
        (30 * DAY, "EMAIL"),
        (30 * DAY + SECOND, "EMAIL"),
    ],
)
def test_purchase_within_resolicitation_delay_of_contact_is_skipped(
    contact: str, ago: timedelta, expected: str
) -> None:
    person = with_contact(contact, solicited=solicited("account", ago))
    assert outcome(facts(recipient=person)) == expected


def test_earlier_claim_of_purchase_does_not_prevent_its_survey() -> None:
    person = with_contact("email", solicited=solicited("account", timedelta(), by=PURCHASE))
    assert outcome(facts(recipient=person, was_claimed=True)) == "EMAIL"


def test_survey_that_was_sent_before_restore_is_not_sent_again() -> None:
    person = with_contact("phone", solicited=solicited(f"s:{STORE}", 400 * DAY, by=PURCHASE))
    given = facts(recipient=person, surveys=[survey(resolicitationDelay=0)])
    assert outcome(given) == "ALREADY_SOLICITED"


SCOPES = {
    ResolicitationMode.ACCOUNT: "account",
    ResolicitationMode.BRAND: f"b:{BRAND}",
    ResolicitationMode.STORE: f"s:{STORE}",
    ResolicitationMode.SURVEY: f"v:{SURVEY}",
}


@pytest.mark.parametrize("mode", SCOPES)
@pytest.mark.parametrize("scope", SCOPES)
def test_resolicitation_delay_applies_only_in_scope_of_mode(
    mode: ResolicitationMode, scope: ResolicitationMode
) -> None:
    person = with_contact("record", solicited=solicited(SCOPES[scope], SECOND))
    given = facts(recipient=person, surveys=[survey(resolicitationMode=mode.value)])
    assert outcome(given) == ("ALREADY_SOLICITED" if scope is mode else "EMAIL")


@pytest.mark.parametrize(
    ("ago", "expected"),
    [(366 * DAY - SECOND, "ALREADY_SOLICITED"), (366 * DAY, "EMAIL")],
)
def test_resolicitation_delay_is_at_most_366_days(ago: timedelta, expected: str) -> None:
    person = with_contact("record", solicited=solicited("account", ago))
    given = facts(
        recipient=person, surveys=[survey().model_copy(update={"resolicitation_delay": 10**9})]
    )
    assert outcome(given) == expected


# The clock of the process that sent the last survey can be ahead.
@pytest.mark.parametrize("ago", [timedelta(), -SECOND])
def test_resolicitation_delay_of_zero_never_skips_purchase(ago: timedelta) -> None:
    person = with_contact("record", solicited=solicited("account", ago))
    given = facts(recipient=person, surveys=[survey(resolicitationDelay=0)])
    assert outcome(given) == "EMAIL"


# Channels, consent and suppression


def suppressed(kind: str, channel: Channel, reason: SuppressionReason) -> Any:
    return with_contact(kind, suppressed={channel: reason})


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        (recipient(email=None, phone_number=None), "NO_CHANNEL"),
        (recipient(email_optin=False, sms_optin=False), "NO_CONSENT"),
        (recipient(email_bounced=True, sms_optin=False), "BOUNCED"),
        (recipient(email_optin=False), "SMS"),
        (recipient(email_bounced=True), "SMS"),
        (recipient(email=None), "SMS"),
    ],
)
def test_first_channel_that_customer_can_receive_is_used(person: Any, expected: str) -> None:
    assert outcome(facts(recipient=person)) == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (SuppressionReason.UNSUBSCRIBED, "SUPPRESSED"),
        (SuppressionReason.COMPLAINT, "SUPPRESSED"),
        (SuppressionReason.BOUNCED, "BOUNCED"),
        (SuppressionReason.ERASED, "ERASED"),
    ],
)
@pytest.mark.parametrize("kind", ["email", "record"])
def test_purchase_of_customer_with_suppressed_address_is_skipped(
    kind: str, reason: SuppressionReason, expected: str
) -> None:
    person = suppressed(kind, Channel.EMAIL, reason)
    given = facts(recipient=person, surveys=[survey(sendingChannels=["EMAIL"])])
    assert outcome(given) == expected


def test_suppression_applies_to_one_channel_only() -> None:
    person = suppressed("email", Channel.EMAIL, SuppressionReason.UNSUBSCRIBED)
    assert outcome(facts(recipient=person)) == "SMS"


@pytest.mark.parametrize(
    ("number", "countries", "expected"),
    [
        ("+33612345678", {"FR"}, "SMS"),
        ("+33612345678", {"BE", "FR"}, "SMS"),
        ("+33612345678", {"BE"}, "COUNTRY"),
        ("+33612345678", set(), "COUNTRY"),
        ("+12015550123", {"US"}, "SMS"),
        ("+33140000000", {"FR"}, "NO_CHANNEL"),
        ("+33899123456", {"FR"}, "NO_CHANNEL"),
        ("+19002345678", {"FR"}, "COUNTRY"),
        ("+19002345678", {"FR", "US"}, "NO_CHANNEL"),
        ("+881612345678", {"FR"}, "COUNTRY"),
        ("+252612345678", {"FR"}, "COUNTRY"),
    ],
)
def test_only_mobile_numbers_of_listed_countries_receive_text_messages(
    number: str, countries: set[str], expected: str
) -> None:
    person = replace(recipient(phone_number=number), text_countries=countries)
    given = facts(recipient=person, surveys=[survey(sendingChannels=["SMS"])])
    assert outcome(given) == expected
    with_email = facts(recipient=person, surveys=[survey(sendingChannels=["SMS", "EMAIL"])])
    assert outcome(with_email) == ("SMS" if expected == "SMS" else "EMAIL")


@pytest.mark.parametrize(
    ("count", "is_reserved", "channels", "expected"),
    [
        (1, False, ["SMS"], "SMS"),
        (2, False, ["SMS"], "DAILY_LIMIT"),
        (2, True, ["SMS"], "SMS"),
        (2, False, ["SMS", "EMAIL"], "EMAIL"),
        (2, False, ["EMAIL", "SMS"], "EMAIL"),
    ],
)
def test_text_message_over_daily_limit_is_held_or_replaced_by_email(
    count: int, is_reserved: bool, channels: list[str], expected: str
) -> None:
    given = facts(
        surveys=[survey(sendingChannels=channels)],
        text_limit=2,
        text_count=count,
        has_reserved_text=is_reserved,
    )
    assert outcome(given) == expected
    decision = decide(given)
    if isinstance(decision, Hold):
        assert decision.until.time() == time(0)
        assert timedelta() < decision.until - given.now <= DAY


def test_invalid_phone_number_receives_no_text_message() -> None:
    person = replace(recipient(email_optin=False), phone_number=None)
    given = facts(recipient=person, surveys=[survey(sendingChannels=["SMS"])])
    assert outcome(given) == "NO_CHANNEL"


@pytest.mark.parametrize(
    ("email", "expected"),
    [
        ("zoë@example.com", "SMS"),
        ("zoe@bücher\u2024.example", "SMS"),
        ("zoe@bücher.example", "EMAIL"),
    ],
)
def test_email_channel_requires_address_that_ses_supports(email: str, expected: str) -> None:
    assert outcome(facts(recipient=recipient(email=email))) == expected


def test_skip_reason_is_reason_of_first_channel() -> None:
    person = recipient(email_optin=False, sms_optin=False, phone_number=None)
    given = facts(recipient=person, surveys=[survey(sendingChannels=["SMS", "EMAIL"])])
    assert outcome(given) == "NO_CHANNEL"
    given = facts(recipient=person, surveys=[survey(sendingChannels=["EMAIL", "SMS"])])
    assert outcome(given) == "NO_CONSENT"


# Sending hours

OFFICE_HOURS = SendingHours.model_validate({"start": "09:00", "end": "20:00"})
WEEKDAYS = SendingHours.model_validate(
    {"start": "09:00", "end": "20:00", "weekdays": [day.value for day in list(Weekday)[:5]]}
)


def paris(day: int, at: time, month: int = 11) -> datetime:
    """Convert a local time in Paris in 2026 to UTC."""
    local = datetime.combine(date(2026, month, day), at, ZoneInfo("Europe/Paris"))
    return local.astimezone(UTC)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (paris(20, time(8, 59, 59)), paris(20, time(9))),
        (paris(20, time(9)), None),
        (paris(20, time(19, 59, 59)), None),
        (paris(20, time(20)), paris(21, time(9))),
        # The clocks go back on 25 October 2026 and forward on 29 March 2026.
        (paris(24, time(20), 10), paris(24, time(9), 10) + timedelta(hours=25)),
        (paris(28, time(20), 3), paris(28, time(9), 3) + timedelta(hours=23)),
    ],
)
def test_message_is_held_until_sending_hours_of_store(
    now: datetime, expected: datetime | None
) -> None:
    assert OFFICE_HOURS.hold_until("Europe/Paris", now) == expected
    given = facts(
        now=now,
        purchase=purchase(date=now),
        sending_hours=OFFICE_HOURS,
        time_zone="Europe/Paris",
    )
    decision = decide(given)
    if expected:
        assert decision == Hold(expected, HoldReason.SENDING_HOURS)
        assert isinstance(decide(replace(given, now=expected)), Send)
    else:
        assert isinstance(decision, Send)


def test_message_is_held_over_weekend() -> None:
    friday = paris(20, time(20))
    assert WEEKDAYS.hold_until("Europe/Paris", friday) == paris(23, time(9))


def test_sending_hours_that_clock_change_skips_hold_message_until_next_start() -> None:
    hours = SendingHours.model_validate({"start": "02:00", "end": "03:00", "weekdays": ["SUNDAY"]})
    skipped = hours.hold_until("Europe/Paris", paris(29, time(1, 59, 59), 3))
    assert skipped == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert hours.hold_until("Europe/Paris", skipped) == datetime(2026, 4, 5, 0, tzinfo=UTC)


def test_message_is_held_only_until_second_start_when_clock_change_repeats_start() -> None:
    hours = SendingHours.model_validate({"start": "02:30", "end": "20:00"})
    # On 25 October 2026, the time 02:30 occurs at 00:30 and at 01:30 UTC.
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1))
    assert hours.hold_until("Europe/Paris", first - SECOND) == first
    assert hours.hold_until("Europe/Paris", first) is None
    assert hours.hold_until("Europe/Paris", second - SECOND) == second
    assert hours.hold_until("Europe/Paris", second) is None


def test_held_message_is_decided_again() -> None:
    night = paris(20, time(3))
    given = facts(
        now=night,
        purchase=purchase(date=night),
        sending_hours=OFFICE_HOURS,
        time_zone="Europe/Paris",
    )
    assert isinstance(decide(given), Hold)
    unsubscribed = recipient(email_optin=False, sms_optin=False)
    assert decide(replace(given, recipient=unsubscribed)) == Skip(SkipReason.NO_CONSENT)


@pytest.mark.parametrize("reason", SuppressionReason)
@pytest.mark.parametrize("is_on", [True, False])
def test_optin_of_suppressed_address_is_revoked_unless_address_bounced(
    reason: SuppressionReason, is_on: bool
) -> None:
    person = with_contact("email", suppressed={Channel.EMAIL: reason})
    changed = person.customer.model_copy(update={"email_optin": is_on})
    is_revoked = is_on and reason is not SuppressionReason.BOUNCED
    expected = [Channel.EMAIL] if is_revoked else []
    assert replace(person, customer=changed).revoked_optins == expected


@pytest.mark.parametrize(
    ("ahead", "expected"), [(SECOND, "SEND_AT"), (timedelta(), "EMAIL"), (-SECOND, "EMAIL")]
)
def test_survey_waits_until_time_that_partner_chose(ahead: timedelta, expected: str) -> None:
    assert outcome(facts(purchase=purchase(send_at=NOW + ahead))) == expected


def test_cancelled_survey_is_skipped_also_if_it_is_held() -> None:
    assert outcome(facts(is_cancelled=True, purchase=purchase(send_at=NOW + SECOND))) == "CANCELLED"


# What is foreseen


def test_decision_without_hold_is_foreseen_as_it_is() -> None:
    assert foresee(facts()) == (decide(facts()), NOW, None)
    skipped = facts(is_requested=False)
    assert foresee(skipped) == (decide(skipped), NOW, None)


def test_time_and_reason_of_last_hold_are_foreseen() -> None:
    evening = SendingHours(start=time(20), end=time(21))
    given = facts(purchase=purchase(date=NOW + SECOND), sending_hours=evening)
    decision, at, reason = foresee(given)
    assert isinstance(decision, Send)
    assert (at, reason) == (datetime(2026, 11, 20, 20, tzinfo=UTC), HoldReason.SENDING_HOURS)


def test_reached_limit_of_text_messages_is_foreseen_to_end_with_the_day() -> None:
    by_text = facts(surveys=[survey(sendingChannels=["SMS"])], text_limit=1, text_count=1)
    decision, at, reason = foresee(by_text)
    assert isinstance(decision, Send)
    assert (at, reason) == (datetime(2026, 11, 21, tzinfo=UTC), HoldReason.DAILY_LIMIT)
    later = replace(by_text, purchase=purchase(date=NOW + SECOND))
    assert foresee(later)[1:] == (datetime(2026, 11, 21, tzinfo=UTC), HoldReason.DAILY_LIMIT)


def test_age_of_purchase_is_foreseen_from_the_first_decision() -> None:
    old = purchase(date=NOW - DAY, send_at=NOW + 8 * DAY)
    decision, at, _ = foresee(facts(purchase=old))
    assert isinstance(decision, Send)
    assert at == NOW + 8 * DAY


def test_hold_beyond_366_days_is_not_foreseen() -> None:
    for ahead, kind in ((timedelta(0), Send), (SECOND, Hold)):
        until = NOW + timedelta(days=366) + ahead
        assert isinstance(foresee(facts(purchase=purchase(date=until)))[0], kind)
