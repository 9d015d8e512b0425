"""Decide whether a customer receives a survey about a purchase.

`decide` is a pure function of the facts. A worker calls it before it sends a message, and again
when a held or deferred message becomes due. The command ``solicitation explain`` shows the same
facts and the same decision.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from chalicelib.domain.accounts.places import Place, PlaceKind
from chalicelib.domain.accounts.settings import SendingHours
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.survey import MAX_RESOLICITATION_DELAY_S, DelayStart, SavedSurvey
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import (
    REMINDER_SCOPE,
    Contact,
    SuppressionReason,
    scopes_of,
)
from chalicelib.domain.solicitation.mail_domain import can_be_sent_to
from chalicelib.domain.solicitation.phone_number import is_mobile, region_of


class SkipReason(StrEnum):
    """Why a customer receives no survey about a purchase."""

    NO_SURVEY = "NO_SURVEY"
    DISABLED = "DISABLED"
    NO_CUSTOMER = "NO_CUSTOMER"
    TOO_OLD = "TOO_OLD"
    ALREADY_SOLICITED = "ALREADY_SOLICITED"
    NO_CHANNEL = "NO_CHANNEL"
    NO_CONSENT = "NO_CONSENT"
    SUPPRESSED = "SUPPRESSED"
    BOUNCED = "BOUNCED"
    ERASED = "ERASED"
    NOT_REQUESTED = "NOT_REQUESTED"
    COUNTRY = "COUNTRY"
    CANCELLED = "CANCELLED"
    ANSWERED = "ANSWERED"
    """Only of reminders."""


class HoldReason(StrEnum):
    """Why a survey is sent later."""

    FUTURE_PURCHASE = "FUTURE_PURCHASE"
    SEND_AT = "SEND_AT"
    DELAY = "DELAY"
    SENDING_HOURS = "SENDING_HOURS"
    DAILY_LIMIT = "DAILY_LIMIT"


LINKABLE_REASONS: Final = frozenset(
    (
        SkipReason.NOT_REQUESTED,
        SkipReason.NO_CHANNEL,
        SkipReason.NO_CONSENT,
        SkipReason.SUPPRESSED,
        SkipReason.BOUNCED,
        SkipReason.NO_CUSTOMER,
    )
)
"""The reasons that prevent a message, but not a link for the partner's own channel."""


@dataclass(frozen=True)
class Recipient:
    """A customer and the contacts through which the customer can be reached.

    Attributes:
        record: the contact of the customer record.
        email: the contact of the e-mail address; None without an address.
        phone: the contact of the phone number; None without a number.
        phone_number: the phone number in the format E.164; None if it is missing or invalid.
        text_countries: the countries whose phone numbers receive text messages.
    """

    customer: Customer
    record: Contact
    email: Contact | None = None
    phone: Contact | None = None
    phone_number: str | None = None
    text_countries: Collection[str] = ()

    @property
    def contacts(self) -> list[Contact]:
        """All contacts of the customer. A survey is recorded for each of them."""
        known = (self.record, self.email, self.phone)
        return [contact for contact in known if contact]

    @property
    def revoked_optins(self) -> list[Channel]:
        """The channels whose opt-in is on although the address is suppressed.

        This happens if the customer got the address after the suppression, or if the phone number
        is in national notation. A bounce does not turn the opt-in off.
        """
        optins = {
            Channel.EMAIL: self.customer.email_optin,
            Channel.SMS: self.customer.sms_optin,
        }
        return [
            channel
            for channel, is_on in optins.items()
            if is_on and self.suppression(channel) not in (None, SuppressionReason.BOUNCED)
        ]

    def learned(self, channels: Iterable[Channel]) -> dict[Channel, str]:
        """Return the suppressed contacts of channels, except those that a partner suppressed."""
        return {
            channel: contact.key
            for channel in channels
            if (contact := self.contact(channel))
            and contact.suppressed.get(channel) not in (None, SuppressionReason.OPTED_OUT)
        }

    @property
    def is_erased(self) -> bool:
        """Whether an erased person had one of the customer's addresses."""
        return any(self.suppression(each) is SuppressionReason.ERASED for each in Channel)

    def contact(self, channel: Channel) -> Contact | None:
        """Return the contact of the address of this channel, or None without an address."""
        return self.email if channel is Channel.EMAIL else self.phone

    def suppression(self, channel: Channel) -> SuppressionReason | None:
        """Return why the customer receives no messages through this channel, or None."""
        own = (self.contact(channel), self.record)
        reasons = (contact.suppressed.get(channel) for contact in own if contact)
        return next(filter(None, reasons), None)


@dataclass(frozen=True)
class SentSurvey:
    """The survey of which a reminder reminds."""

    survey_id: str
    channel: Channel
    is_answered: bool


@dataclass(frozen=True)
class Facts:
    """Everything that a decision depends on.

    Attributes:
        is_requested: whether a survey is requested. False for imports of old purchases.
        processed_at: the time of the first decision about this purchase; None at the first
            decision.
        store: the store of the purchase; None if it no longer exists.
        brand: the brand of the store; None if it no longer exists.
        surveys: the account's surveys, the oldest first.
        recipient: the customer of the purchase; None if there is no customer, or if the customer no
            longer exists.
        sending_hours: None if surveys are sent at any time.
        time_zone: the IANA name of the store's time zone.
        account_time_zone: the IANA name of the account's time zone, in which surveys are counted.
        was_claimed: whether the solicitation was claimed before, and its message was not sent or
            its outcome is unknown.
        text_limit: the maximum number of text messages of the account on this day (UTC); None
            without a limit.
        text_count: the number of text messages that the account has reserved on this day.
        has_reserved_text: whether one of them is reserved for this solicitation.
        is_cancelled: whether the partner cancelled the survey.
        reminds_of: the survey, if the decision is about its reminder; otherwise None.
    """

    now: datetime
    purchase: Purchase
    is_requested: bool
    processed_at: datetime | None
    store: Place | None
    surveys: Sequence[SavedSurvey]
    recipient: Recipient | None
    brand: Place | None = None
    sending_hours: SendingHours | None = None
    time_zone: str = "UTC"
    account_time_zone: str = "UTC"
    was_claimed: bool = False
    text_limit: int | None = None
    text_count: int = 0
    has_reserved_text: bool = False
    is_cancelled: bool = False
    reminds_of: SentSurvey | None = None

    @property
    def is_text_limit_reached(self) -> bool:
        """Whether the limit of the day prevents the text message of this solicitation.

        A solicitation that has reserved its text message is not prevented.
        """
        has_limit = self.text_limit is not None and not self.has_reserved_text
        return has_limit and self.text_count >= (self.text_limit or 0)


@dataclass(frozen=True)
class Send:
    """Send the survey now."""

    survey: SavedSurvey
    channel: Channel


@dataclass(frozen=True)
class Hold:
    """Decide again at this time."""

    until: datetime
    reason: HoldReason


@dataclass(frozen=True)
class Skip:
    """Send no survey about this purchase. This is final."""

    reason: SkipReason


Decision = Send | Hold | Skip

_MAX_FORESEEN: Final = timedelta(days=366)


def decide(facts: Facts) -> Decision:
    """Decide whether to send a survey about a purchase, or its reminder, now, later or never."""
    if facts.reminds_of:
        return _decide_reminder(facts, facts.reminds_of)
    if not (facts.is_requested or facts.is_cancelled):
        return Skip(SkipReason.NOT_REQUESTED)
    survey = _due_survey(facts, is_message=True)
    if not isinstance(survey, SavedSurvey):
        return survey
    assert facts.recipient  # noqa: S101 - no survey is due for a message without a recipient
    return _decide_message(facts, facts.recipient, survey, _sending_channels(survey))


def foresee(facts: Facts) -> tuple[Decision, datetime, HoldReason | None]:
    """Return the decision after all holds, if nothing else changes, and the time of this decision.

    Return also the reason of the last hold; None if the survey is not held. A hold that ends more
    than `_MAX_FORESEEN` ahead is returned itself.
    """
    now, first, reason = facts.now, facts.processed_at or facts.now, None
    while isinstance(decision := decide(facts), Hold):
        reason = decision.reason
        if decision.until - now > _MAX_FORESEEN:
            return decision, decision.until, reason
        is_same_day = decision.until < _next_day(facts.now)
        count = facts.text_count if is_same_day else 0
        facts = replace(facts, now=decision.until, processed_at=first, text_count=count)
    return decision, facts.now, reason


def _decide_reminder(facts: Facts, sent: SentSurvey) -> Decision:
    """Decide whether to send a reminder: once, through the channel of the survey."""
    if sent.is_answered:
        return Skip(SkipReason.ANSWERED)
    if facts.is_cancelled:
        return Skip(SkipReason.CANCELLED)
    if facts.recipient is None:
        return Skip(SkipReason.NO_CUSTOMER)
    enabled = (survey for survey, is_enabled in _targeting(facts) if is_enabled)
    survey = next((each for each in enabled if each.id == sent.survey_id), None)
    if survey is None:
        return Skip(SkipReason.DISABLED)
    if not survey.reminder_delay:
        return Skip(SkipReason.NOT_REQUESTED)
    if _is_solicited(facts, facts.recipient, survey):
        return Skip(SkipReason.ALREADY_SOLICITED)
    channels = [each for each in _sending_channels(survey) if each is sent.channel]
    return _decide_message(facts, facts.recipient, survey, channels)


def _decide_message(
    facts: Facts, recipient: Recipient, survey: SavedSurvey, channels: list[Channel]
) -> Decision:
    """Decide about a message that is due, by the channels and the sending hours."""
    channel = _choose_channel(recipient, channels)
    if channel is Channel.SMS and facts.is_text_limit_reached:
        others = [other for other in channels if other is not Channel.SMS]
        channel = _choose_channel(recipient, others)
        if isinstance(channel, SkipReason):
            return Hold(_next_day(facts.now), HoldReason.DAILY_LIMIT)
    if isinstance(channel, SkipReason):
        return Skip(channel)
    return _outside_hours(facts) or Send(survey, channel)


def decide_link(facts: Facts) -> SavedSurvey | Hold | Skip:
    """Decide which survey a link for the partner's own channel opens, or why there is no link.

    The service sends no message, so consent, channels and unsubscriptions do not matter. An erased
    person gets no link either.
    """
    if facts.recipient and facts.recipient.is_erased:
        return Skip(SkipReason.ERASED)
    survey = _due_survey(facts, is_message=False)
    if not isinstance(survey, SavedSurvey):
        return survey
    return _outside_hours(facts) or survey


def _due_survey(facts: Facts, *, is_message: bool) -> SavedSurvey | Hold | Skip:
    """Return the survey that is due, before the channel and the sending hours are considered.

    Args:
        is_message: whether the service sends the survey to the customer.
    """
    if facts.is_cancelled:
        return Skip(SkipReason.CANCELLED)
    if facts.purchase.date > facts.now:
        return Hold(facts.purchase.date, HoldReason.FUTURE_PURCHASE)
    send_at = facts.purchase.send_at
    if send_at and send_at > facts.now:
        return Hold(send_at, HoldReason.SEND_AT)
    if facts.recipient is None and is_message:
        return Skip(SkipReason.NO_CUSTOMER)
    survey = _choose_survey(facts, is_message=is_message)
    if isinstance(survey, SkipReason):
        return Skip(survey)
    if _is_too_old(facts, survey):
        return Skip(SkipReason.TOO_OLD)
    delayed_until = _delayed_until(facts, survey)
    if delayed_until > facts.now:
        return Hold(delayed_until, HoldReason.DELAY)
    if facts.recipient and _is_solicited(facts, facts.recipient, survey):
        return Skip(SkipReason.ALREADY_SOLICITED)
    return survey


def _delayed_until(facts: Facts, survey: SavedSurvey) -> datetime:
    """Return the end of the survey's delay. A time that the partner chose replaces the delay."""
    if facts.purchase.send_at or not survey.solicitation_delay:
        return facts.now
    is_at_end = survey.solicitation_delay_from is DelayStart.END_DATE
    start = facts.purchase.end_date if is_at_end else facts.purchase.date
    delay = timedelta(seconds=survey.solicitation_delay)
    return min(start, _LATEST - delay) + delay


def _outside_hours(facts: Facts) -> Hold | None:
    if facts.sending_hours is None:
        return None
    until = facts.sending_hours.hold_until(facts.time_zone, facts.now)
    return Hold(until, HoldReason.SENDING_HOURS) if until else None


_LATEST: Final = datetime.max.replace(tzinfo=UTC)


def _next_day(now: datetime) -> datetime:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1)


def _choose_survey(facts: Facts, *, is_message: bool) -> SavedSurvey | SkipReason:
    """Choose the oldest enabled survey for the store or, if there is none, for its brand.

    Surveys with a channel of messages come first. A message requires one.
    """
    targeting = list(_targeting(facts))
    enabled = [survey for survey, is_enabled in targeting if is_enabled]
    if not enabled:
        return SkipReason.DISABLED if targeting else SkipReason.NO_SURVEY
    sendable = [survey for survey in enabled if _sending_channels(survey)]
    return next(iter(sendable if is_message else [*sendable, *enabled]), SkipReason.NO_CHANNEL)


def _targeting(facts: Facts) -> Iterator[tuple[SavedSurvey, bool]]:
    """Yield the surveys that target the store, then those that target its brand.

    The second value of each pair is True if the survey is open and its target is enabled.
    """
    if facts.store is None:
        return
    places = ((PlaceKind.STORE, facts.store.id), (PlaceKind.BRAND, facts.store.brand_id))
    for place in places:
        for survey in facts.surveys:
            for target in survey.targets:
                if (target.type, target.target_id) == place:
                    yield survey, survey.opening_at(facts.now).is_open and target.enabled


def _sending_channels(survey: SavedSurvey) -> list[Channel]:
    """Return the survey's channels in order. Omit ``LINK``, because it sends no message."""
    names = {channel.value for channel in Channel}
    return [Channel(channel.value) for channel in survey.sending_channels if channel.value in names]


def _is_too_old(facts: Facts, survey: SavedSurvey) -> bool:
    if not survey.solicitation_threshold:
        return False
    age = (facts.processed_at or facts.now) - facts.purchase.date
    return age > timedelta(seconds=survey.solicitation_threshold)


def _is_solicited(facts: Facts, recipient: Recipient, survey: SavedSurvey) -> bool:
    assert facts.store  # noqa: S101 - a survey was found for the store
    if not facts.was_claimed and _was_sent(facts, recipient):
        return True
    if not survey.resolicitation_delay:
        return False
    delay = timedelta(seconds=min(survey.resolicitation_delay, MAX_RESOLICITATION_DELAY_S))
    scopes = scopes_of(facts.store.id, facts.store.brand_id, survey.id)
    scope = scopes[survey.resolicitation_mode]
    last = (contact.solicited.get(scope) for contact in recipient.contacts)
    return any(
        solicited.by != facts.purchase.id and facts.now - solicited.at < delay
        for solicited in last
        if solicited
    )


def _was_sent(facts: Facts, recipient: Recipient) -> bool:
    """Return whether the survey, or its reminder, was sent before a restore from a backup.

    A restore resets the solicitation, but not the contacts. Only the last survey in each scope is
    stored, so an earlier survey is not found.
    """
    return any(
        solicited.by == facts.purchase.id and (scope == REMINDER_SCOPE or not facts.reminds_of)
        for contact in recipient.contacts
        for scope, solicited in contact.solicited.items()
    )


def _choose_channel(recipient: Recipient, channels: Iterable[Channel]) -> Channel | SkipReason:
    """Return the first channel that can be used, or the reason why the first channel cannot."""
    first_reason: SkipReason | None = None
    for channel in channels:
        reason = obstacle(recipient, channel)
        if reason is None:
            return channel
        first_reason = first_reason or reason
    return first_reason or SkipReason.NO_CHANNEL


def obstacle(recipient: Recipient, channel: Channel) -> SkipReason | None:
    """Return why the customer cannot receive messages through this channel, or None."""
    customer = recipient.customer
    if channel is Channel.EMAIL:
        contact, has_optin = recipient.email, customer.email_optin
        has_address = can_be_sent_to(customer.email or "")
    else:
        contact, has_optin = recipient.phone, customer.sms_optin
        has_address = bool(recipient.phone_number)
    if not contact or not has_address:
        return SkipReason.NO_CHANNEL
    if channel is Channel.SMS and (reason := _text_obstacle(recipient)):
        return reason
    suppression = recipient.suppression(channel)
    if suppression:
        return _SKIP_REASONS.get(suppression, SkipReason.SUPPRESSED)
    if channel is Channel.EMAIL and customer.email_bounced:
        return SkipReason.BOUNCED
    return None if has_optin else SkipReason.NO_CONSENT


def _text_obstacle(recipient: Recipient) -> SkipReason | None:
    """Return why the customer's phone number receives no text messages, or None.

    Fraudsters earn money with messages to premium, satellite and distant numbers.
    """
    assert recipient.phone_number  # noqa: S101 - the caller checks the number
    if region_of(recipient.phone_number) not in recipient.text_countries:
        return SkipReason.COUNTRY
    return None if is_mobile(recipient.phone_number) else SkipReason.NO_CHANNEL


_SKIP_REASONS: Final = {
    SuppressionReason.BOUNCED: SkipReason.BOUNCED,
    SuppressionReason.ERASED: SkipReason.ERASED,
}
