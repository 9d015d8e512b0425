"""Send a survey about a purchase, or its reminder, at most once: decide, claim, send, store.

The claim is one transaction. The transaction checks that the facts have not changed since the
decision, creates the tracker, and records the survey for all contacts of the customer. After the
claim, the worker only sends the message and stores the outcome. The claim of a reminder also checks
that the survey was not answered, cancelled or erased.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from chalicelib.backoff import MAX_PAUSE_S, Backoff
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.decide import Hold, Send, Skip, SkipReason, decide, obstacle
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.sending_errors import (
    MessageNotSent,
    MessageRejected,
    OutcomeUnknown,
    RecipientNotVerified,
    RecipientOptedOut,
)
from chalicelib.domain.solicitation.solicitation import (
    INTERRUPTED,
    Solicitation,
    SolicitationPointer,
    SolicitationState,
)
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.metrics import metric_fields
from chalicelib.queues import SOLICITATIONS
from chalicelib.services.solicitation.case import Case, MissingPurchase, load_case
from chalicelib.services.solicitation.contact_keys import address_hash
from chalicelib.services.solicitation.record_survey import (
    record_reminder,
    record_survey,
    tracker_of,
)
from chalicelib.services.solicitation.send_invitation import build_invitation, send_invitation
from chalicelib.services.work.worker import Worker, WorkOutcome
from chalicelib.storage import (
    contacts,
    customer_consent,
    purchases,
    rate_limits,
    solicitations,
    suppressions,
)
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import Contention, transaction
from chalicelib.storage.stage_values import public_base_url
from chalicelib.storage.trackers import TrackerRow
from chalicelib.time_limits import MAX_CALL_S, MAX_SEND_S, MIN_CALL_S, reserve, time_left_s

_MAX_UNVERIFIED: Final = timedelta(hours=72)
"""The time for which messages to unverified recipients are deferred in the sandbox of SES."""

_SEND_S: Final = MAX_SEND_S + MIN_CALL_S
"""The remaining time that a message requires: for the message and the outcome."""

_CLAIM_S: Final = MAX_CALL_S + _SEND_S
"""The remaining time that a claim requires: for the claim, the message and the outcome."""

MIN_SOLICITATION_S: Final = 2 * MAX_CALL_S + _CLAIM_S
"""The remaining time that processing requires: for reading the facts and for the claim."""


class SendingOutcome(WorkOutcome):
    """The result of processing one queue message."""

    SENT = "sent", "survey sent", "sent"
    SKIPPED = "skipped", "survey skipped", "skipped"
    HELD = "held", "survey held"
    DEFERRED = "deferred", "survey deferred", "deferred"
    REJECTED = "rejected", "survey rejected", "rejected", "failed"
    UNKNOWN = "unknown", "survey outcome unknown", "unknown", "failed"
    PARKED = "parked", "survey parked", "parked"
    TO_BE_RETRIED = "retry scheduled", "survey rescheduled"
    NOTHING_TO_DO = "nothing to do", "survey message ignored"
    CLAIM_LOST = "claim lost", "survey claim lost"


def send_survey(pointer: SolicitationPointer) -> SendingOutcome:
    """Decide about a pending solicitation, and send its message if the decision is to send now.

    AWS requests: five if the message is sent (two to read the facts, claim, message, outcome),
    three if it is skipped, held or deferred because the URL of links cannot be read, four if the
    customer has already answered, two if there is nothing to do; for a reminder, two more to
    read its facts.

    Raises:
        Unavailable: the database throttles or does not respond, or contention persists. If this
            happens after the claim, the outcome becomes UNKNOWN when the lease ends.
    """
    claims: dict[str, SurveyInvitation] = {}
    # The facts have changed, or the response to the claim was lost. Read the facts again.
    result = retry_on_contention(lambda: _decide(pointer, claims), Unavailable)
    if isinstance(result, SendingOutcome):
        return result
    # The outcome of a sent message is stored even if too little time is left for another message.
    with reserve(MIN_CALL_S):
        return _send(result)


def _decide(
    pointer: SolicitationPointer, claims: dict[str, SurveyInvitation]
) -> SurveyInvitation | SendingOutcome:
    """Decide about a solicitation, and claim it if its survey is sent now.

    Return the invitation to send, or the outcome if nothing is sent.

    Args:
        claims: the invitations of all claims that this call has tried, by fencing token. A new
            claim is added.
    """
    try:
        case = load_case(pointer)
    except MissingPurchase as error:
        if error.solicitation.is_open:
            raise
        return _expire(error.solicitation, clock.now())
    if case is None or case.solicitation.state is not SolicitationState.PENDING:
        return SendingOutcome.NOTHING_TO_DO
    solicitation, now = case.solicitation, case.facts.now
    if solicitation.leased_until is not None:
        claimed = claims.get(solicitation.claim_token)
        return _confirm(claimed, case) if claimed else _expire(solicitation, now)
    decision = decide(case.facts)
    match decision:
        case Skip():
            return _skip(case, decision.reason)
        case Hold():
            solicitations.hold(solicitation, decision.until, decision.reason, now)
            return SendingOutcome.HELD
    # The links of the message contain this URL. It is cached, so normally nothing is read after
    # the claim.
    try:
        public_base_url()
    except Unavailable:
        solicitations.defer(solicitation, "public base URL unavailable", now)
        return SendingOutcome.DEFERRED
    if time_left_s() < _CLAIM_S:
        raise Unavailable("Too little time is left.")
    return _claim(case, decision, claims)


def _skip(case: Case, reason: SkipReason) -> SendingOutcome:
    """Skip the survey, and turn off the opt-ins of addresses that are suppressed.

    Raises:
        Contention: a fact has changed since it was read.
    """
    solicitation, recipient = case.solicitation, case.facts.recipient
    with transaction() as write:
        solicitations.skip(write, solicitation, reason, case.facts.now)
        purchases.confirm_unchanged(write, solicitation.account_id, case.facts.purchase)
        if recipient and recipient.revoked_optins:
            customer_consent.turn_optins_off(
                write, solicitation.account_id, recipient.customer, recipient.revoked_optins
            )
            if learned := recipient.learned(recipient.revoked_optins):
                account_id, customer_id = solicitation.account_id, recipient.customer.id
                contacts.record_change(write, account_id, customer_id, learned, case.facts.now)
    return SendingOutcome.SKIPPED


def _expire(solicitation: Solicitation, now: datetime) -> SendingOutcome:
    """Store UNKNOWN if the lease of the claim has ended without an outcome."""
    if now.timestamp() < (solicitation.leased_until or 0):
        return SendingOutcome.NOTHING_TO_DO
    unknown = SolicitationState.UNKNOWN
    is_expired = solicitations.save_end(solicitation, unknown, INTERRUPTED, now)
    return SendingOutcome.UNKNOWN if is_expired else SendingOutcome.NOTHING_TO_DO


def _confirm(invitation: SurveyInvitation, case: Case) -> SurveyInvitation | SendingOutcome:
    """Return a claim whose response was lost, if the current facts still allow its message.

    The claim recorded the survey for the contacts of its recipient, so the message goes to this
    recipient through this channel, or it is not sent.

    Args:
        invitation: the invitation of the claim.
        case: the solicitation and the facts, as read after the claim.
    """
    recipient, decision = case.facts.recipient, decide(case.facts)
    match decision:
        case Skip():
            return _store_end(invitation, SolicitationState.SKIPPED, decision.reason)
        case Hold():
            return _release(invitation, decision.reason)
    assert recipient  # noqa: S101 - `decide` sends nothing without a recipient
    contact = recipient.contact(invitation.channel)
    is_same = (recipient.customer.id, contact and contact.key, decision.channel) == (
        invitation.customer.id,
        invitation.contact_key,
        invitation.channel,
    )
    if is_same:
        return invitation
    reason = obstacle(recipient, invitation.channel) or SkipReason.ALREADY_SOLICITED
    return _store_end(invitation, SolicitationState.SKIPPED, reason)


def _claim(
    case: Case, decision: Send, claims: dict[str, SurveyInvitation]
) -> SurveyInvitation | SendingOutcome:
    """Claim the solicitation, create the tracker and record the survey for the contacts.

    Skip the solicitation if the customer has already answered the survey. This happens if the
    outcome UNKNOWN is sent again although the customer received the message.

    Raises:
        Contention: a fact has changed since it was read.
    """
    facts, recipient = case.facts, case.facts.recipient
    assert recipient  # noqa: S101 - `decide` sends nothing without a recipient
    account_id, send_mode = case.solicitation.account_id, SendMode(decision.channel)
    tracker = tracker_of(case, decision.survey, send_mode)
    claimed = replace(
        case.solicitation,
        customer_id=recipient.customer.id,
        claim_token=new_id(),
        survey_id=decision.survey.id,
        channel=send_mode,
        tracker_id=tracker.id,
        counted_as=None if case.solicitation.is_reminder else tracker.counted_as,
    )
    # A retry on the same day uses the text message that the solicitation has reserved.
    text_limit = facts.text_limit if decision.channel is Channel.SMS else None
    if text_limit and not facts.has_reserved_text:
        claimed = replace(claimed, text_day=rate_limits.day_of(facts.now))
    # The response can be lost. The facts can change before they are read again, so the claim is
    # stored here as it is committed.
    invitation = build_invitation(
        replace(case, solicitation=claimed), decision.survey, decision.channel, tracker.id
    )
    claims[claimed.claim_token] = invitation
    try:
        with transaction() as write:
            solicitations.claim(write, claimed, case.solicitation.counted_as, facts.now)
            if claimed.is_reminder:
                record_reminder(write, case, tracker.id)
            else:
                record_survey(write, case, tracker)
            if text_limit and not facts.has_reserved_text:
                rate_limits.reserve_text(write, account_id, text_limit, facts.now)
            customer_consent.confirm_recipient(
                write, account_id, recipient.customer, decision.channel, recipient.revoked_optins
            )
    except Contention as contention:
        is_answered = contention.condition_failed and contention.is_only_on(TrackerRow)
        if claimed.is_reminder or not is_answered:
            raise
        return _skip(case, SkipReason.ALREADY_SOLICITED)
    return invitation


def _send(invitation: SurveyInvitation) -> SendingOutcome:
    """Send the message and store the outcome.

    If the provider throttles, try again as long as the function has time: this slows the function
    down to the rate of the provider.
    """
    backoff = Backoff()
    while True:
        try:
            message_id = send_invitation(invitation)
        except RecipientNotVerified as error:
            since, now = invitation.solicitation.deferred_since, clock.now()
            if since and now - since >= _MAX_UNVERIFIED:
                return _store_end(invitation, SolicitationState.REJECTED, error.reason)
            return _release(invitation, error.reason)
        except MessageNotSent as error:
            if time_left_s() > _SEND_S + MAX_PAUSE_S and backoff.pause():
                continue
            return _release(invitation, error.reason)
        except RecipientOptedOut:
            _suppress(invitation)
            return _store_end(invitation, SolicitationState.SKIPPED, SkipReason.SUPPRESSED)
        except MessageRejected as error:
            return _store_end(invitation, SolicitationState.REJECTED, error.reason)
        except OutcomeUnknown as error:
            return _store_end(invitation, SolicitationState.UNKNOWN, error.reason)
        except Exception as error:
            # The exception may have been raised before or after sending.
            logger.exception(
                "survey raised an exception",
                solicitation_id=invitation.solicitation.id,
                **metric_fields("work", "solicitation", exceptions=1),
            )
            reason = type(error).__name__
            return _store_end(invitation, SolicitationState.UNKNOWN, reason)
        return _store_sent(invitation, message_id)


def _suppress(invitation: SurveyInvitation) -> None:
    """Suppress the recipient's phone number. The provider knows that the recipient opted out."""
    account_id, number = invitation.solicitation.account_id, invitation.customer.phone_number
    reason = SuppressionReason.UNSUBSCRIBED
    if contact_hash := address_hash(account_id, Channel.SMS, number):
        suppressions.suppress(account_id, contact_hash, Channel.SMS, reason, clock.now())


def _store_sent(invitation: SurveyInvitation, message_id: str) -> SendingOutcome:
    now, delay = clock.now(), timedelta(seconds=invitation.survey.reminder_delay)
    is_stored = solicitations.save_sent(
        invitation.solicitation,
        message_id,
        invitation.contact_key,
        now,
        remind_at=now + delay if delay else None,
    )
    return SendingOutcome.SENT if is_stored else SendingOutcome.CLAIM_LOST


def _release(invitation: SurveyInvitation, reason: str) -> SendingOutcome:
    """Defer a claimed solicitation whose message was not sent."""
    is_stored = solicitations.release(invitation.solicitation, reason, clock.now())
    return SendingOutcome.DEFERRED if is_stored else SendingOutcome.CLAIM_LOST


def _store_end(
    invitation: SurveyInvitation, state: SolicitationState, reason: str
) -> SendingOutcome:
    """Store a final outcome other than SENT."""
    if not solicitations.save_end(invitation.solicitation, state, reason, clock.now()):
        return SendingOutcome.CLAIM_LOST
    return SendingOutcome[state.name]


WORKER: Final = Worker(
    queue=SOLICITATIONS,
    parse=partial(decode, SolicitationPointer),
    run=lambda message: send_survey(message.pointer),
    records=solicitations.WORK,
    key=lambda pointer: (pointer.solicitation_id, solicitations.PART),
    outcomes=SendingOutcome,
    log_fields=("account_id", "solicitation_id"),
    max_concurrency=5,
    min_time_s=MIN_SOLICITATION_S,
)
"""A claimed solicitation is not deferred: its outcome is UNKNOWN when the lease ends."""
