"""Describe in plain words why a customer received a survey about a purchase, or none."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import scopes_of
from chalicelib.domain.solicitation.decide import Facts, Hold, Send, SkipReason, foresee
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState

_REASONS: Final = {
    "NO_SURVEY": "no survey targets the store or its brand",
    "DISABLED": "the survey is disabled or not open, or its target is disabled",
    "NO_CUSTOMER": "the purchase has no customer",
    "TOO_OLD": "the purchase was too old when it arrived",
    "ALREADY_SOLICITED": "the customer received another survey shortly before",
    "NO_CHANNEL": "the customer has no address that the survey's channels can use",
    "NO_CONSENT": "the opt-in is off",
    "SUPPRESSED": "the recipient unsubscribed or complained",
    "BOUNCED": "the address bounced",
    "ERASED": "the customer was erased",
    "NOT_REQUESTED": "none was requested when the purchase arrived",
    "COUNTRY": "text messages to the country of the phone number are off",
    "CANCELLED": "the partner cancelled it",
    "ANSWERED": "the customer has answered",
}
_HOLDS: Final = {
    "FUTURE_PURCHASE": "the date of the purchase is in the future",
    "SEND_AT": "the partner chose this time",
    "DELAY": "the survey has a delay after the purchase",
    "SENDING_HOURS": "these are not the sending hours",
    "DAILY_LIMIT": "the daily limit of text messages is reached",
}
_DAY: Final = timedelta(days=1)


def outcome_in_words(
    solicitation: Solicitation,
    facts: Facts,
    shown: Callable[[datetime], str] = format_timestamp,
) -> str:
    """Return one sentence about the survey of a purchase, with days instead of seconds.

    Args:
        shown: returns the text of a time, which starts with its date.
    """
    match solicitation.state:
        case SolicitationState.SENT:
            channel = f" through {solicitation.channel.value}" if solicitation.channel else ""
            sent = f" on {shown(solicitation.sent_at)[:10]}" if solicitation.sent_at else ""
            at = solicitation.reminded_at
            reminded = f", reminder sent on {shown(at)[:10]}" if at else ""
            return f"survey sent{sent}{channel}{reminded}"
        case SolicitationState.REJECTED:
            return f"no survey: the provider rejected the message ({solicitation.reason})"
        case SolicitationState.UNKNOWN:
            return "a survey may have been sent; the provider did not confirm it"
        case SolicitationState.SKIPPED:
            return f"no survey: {_skipped(solicitation.reason, facts)}"
        case SolicitationState.PENDING:
            return _pending(facts, shown)
    return f"parked ({solicitation.reason})"


def _pending(facts: Facts, shown: Callable[[datetime], str]) -> str:
    decision, at, reason = foresee(facts)
    waits = f"{shown(at)}: {_HOLDS[reason]}" if reason else ""
    match decision:
        case Send():
            sent = f"a survey will be sent through {decision.channel.value}"
            return f"{sent} after {waits}" if waits else sent
        case Hold():
            return f"the survey waits until {waits}"
    return f"no survey: {_skipped(decision.reason, facts)}"


def _skipped(reason: str, facts: Facts) -> str:
    numbers = {SkipReason.TOO_OLD: _age, SkipReason.ALREADY_SOLICITED: _days_since_last}
    described = numbers[SkipReason(reason)](facts) if reason in numbers else None
    return described or _REASONS.get(reason, reason)


def _age(facts: Facts) -> str | None:
    """Compare the age of the purchase with the rule of the first survey that has one."""
    age = (facts.processed_at or facts.now) - facts.purchase.date
    for survey in facts.surveys:
        rule = timedelta(seconds=survey.solicitation_threshold or 0)
        if rule and age > rule:
            return f"the purchase was {_days(age)} old when it arrived, the rule is {_days(rule)}"
    return None


def _days_since_last(facts: Facts) -> str | None:
    """Compare the time since the last survey with the rule of the survey of the store."""
    decided_at = facts.processed_at or facts.now
    if facts.store is None or facts.recipient is None:
        return None
    for survey in facts.surveys:
        rule = timedelta(seconds=survey.resolicitation_delay)
        scopes = scopes_of(facts.store.id, facts.store.brand_id, survey.id)
        last = [
            solicited.at
            for contact in facts.recipient.contacts
            if (solicited := contact.solicited.get(scopes[survey.resolicitation_mode]))
            and solicited.by != facts.purchase.id
            and timedelta() <= decided_at - solicited.at < rule
        ]
        if last:
            since = _days(decided_at - max(last))
            return f"{since} since the last one, the rule is {_days(rule)}"
    return None


def _days(span: timedelta) -> str:
    """Return the length in days, or in hours if it is shorter than two days."""
    days, hours = span // _DAY, span // timedelta(hours=1)
    if days >= 2:
        return f"{days} days"
    return f"{hours} hour{'' if hours == 1 else 's'}" if hours else "less than an hour"
