"""Send a survey about a purchase, or its reminder, at most once: decide, claim, send, store.

The claim is one transaction. The transaction checks that the facts have not changed since the
decision, creates the tracker, and records the survey for all contacts of the customer. After the
claim, the worker only sends the message and stores the outcome. The claim of a reminder also checks
that the survey was not answered, cancelled or erased.
"""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from chalicelib.backoff import MAX_PAUSE_S, Backoff
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.decide import Hold, Send, Skip, SkipReason, decide
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
    SolicitationPointer,
    SolicitationState,
)
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.metrics import metric_fields
from chalicelib.queues import SOLICITATIONS
from chalicelib.services.solicitation.case import Case, case_of
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
    rate_limits,
    solicitations,
    suppressions,
)
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.messages import RETENTION, MessageRow
from chalicelib.storage.purchases import purchase_key
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.stage_values import public_base_url
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
    three if it is skipped, held or deferred because the URL of links cannot be read, one if there
    is nothing to do; for a reminder, one more to read its facts.

    Raises:
        Unavailable: the database throttles or does not respond, or contention persists. If this
            happens after the claim, the outcome becomes UNKNOWN when the lease ends.
    """
    # The time that is left after the claim must be enough for the message.
    with reserve(_CLAIM_S):
        result = commit(partial(_decide, pointer))
    if isinstance(result, SendingOutcome):
        return result
    result.row.was_written()
    # The outcome of a sent message is stored even if too little time is left for another message.
    with reserve(MIN_CALL_S):
        return _send(result)


@dataclass(frozen=True)
class _Claim:
    """A claimed solicitation, and the invitation to send.

    Attributes:
        survey: the solicitation of the survey of a reminder; None for a survey.
    """

    row: SolicitationRow
    invitation: SurveyInvitation
    survey: SolicitationRow | None = None


def _decide(pointer: SolicitationPointer, rows: Rows) -> _Claim | SendingOutcome:
    """Decide about a solicitation, and claim it if its survey is sent now.

    Return the claim, or the outcome if nothing is sent.
    """
    fetched = solicitations.fetch_with_purchase(rows, pointer)
    if fetched is None or fetched.row.state != SolicitationState.PENDING:
        return SendingOutcome.NOTHING_TO_DO
    row = fetched.row
    if row.leased_until is not None:
        return _expire(rows, row, row.leased_until)
    case = case_of(rows, fetched)
    now, decision = case.facts.now, decide(case.facts)
    match decision:
        case Skip():
            return _skip(rows, case, decision.reason)
        case Hold():
            solicitations.hold(row, decision.until, decision.reason, now)
            return SendingOutcome.HELD
    # The links of the message contain this URL. It is cached, so normally nothing is read after
    # the claim.
    try:
        public_base_url()
    except Unavailable:
        solicitations.defer(row, "public base URL unavailable", now)
        return SendingOutcome.DEFERRED
    if time_left_s() < _CLAIM_S:
        raise Unavailable("Too little time is left.")
    if case.is_answered and not case.facts.reminds_of:
        # The outcome UNKNOWN is sent again although the customer received the message.
        return _skip(rows, case, SkipReason.ALREADY_SOLICITED)
    return _claim(rows, case, decision)


def _skip(rows: Rows, case: Case, reason: SkipReason) -> SendingOutcome:
    """Skip the survey, and turn off the opt-ins of addresses that are suppressed."""
    account_id, recipient = case.solicitation.account_id, case.facts.recipient
    solicitations.end(rows, case.row, SolicitationState.SKIPPED, reason, case.facts.now)
    rows.get(purchase_key(account_id, case.facts.purchase.id))
    if recipient and recipient.revoked_optins:
        customer_consent.turn_optins_off(
            rows, account_id, recipient.customer.id, recipient.revoked_optins
        )
        if learned := recipient.learned(recipient.revoked_optins):
            customer_id = recipient.customer.id
            contacts.record_change(rows, account_id, customer_id, learned, case.facts.now)
    return SendingOutcome.SKIPPED


def _expire(rows: Rows, row: SolicitationRow, leased_until: int) -> SendingOutcome:
    """Store UNKNOWN if the lease of the claim has ended without an outcome."""
    now = clock.now()
    if now.timestamp() < leased_until:
        return SendingOutcome.NOTHING_TO_DO
    solicitations.end(rows, row, SolicitationState.UNKNOWN, INTERRUPTED, now)
    return SendingOutcome.UNKNOWN


def _claim(rows: Rows, case: Case, decision: Send) -> _Claim:
    """Claim the solicitation, create the tracker and record the survey for the contacts."""
    row, facts, recipient = case.row, case.facts, case.facts.recipient
    account_id = row.account_id
    assert recipient  # noqa: S101 - `decide` sends nothing without a recipient
    tracker = tracker_of(case, decision.survey, SendMode(decision.channel))
    # A retry on the same day uses the text message that the solicitation has reserved.
    text_limit = facts.text_limit if decision.channel is Channel.SMS else None
    reserves_text = bool(text_limit) and not facts.has_reserved_text
    text_day = rate_limits.day_of(facts.now) if reserves_text else row.text_day
    solicitations.claim(row, text_day, facts.now)
    survey = None
    if facts.reminds_of:
        survey = record_reminder(rows, case, tracker.id)
    else:
        solicitations.choose(rows, row, tracker)
        record_survey(rows, case, tracker)
    if text_limit and reserves_text:
        rate_limits.reserve_text(rows, account_id, text_limit, facts.now)
    if recipient.revoked_optins:
        customer_consent.turn_optins_off(
            rows, account_id, recipient.customer.id, recipient.revoked_optins
        )
    customer_consent.rely_on_recipient(rows, account_id, recipient.customer.id, decision.channel)
    invitation = build_invitation(case, decision.survey, decision.channel, tracker.id)
    return _Claim(row, invitation, survey)


def _send(claim: _Claim) -> SendingOutcome:
    """Send the message and store the outcome.

    If the provider throttles, try again as long as the function has time: this slows the function
    down to the rate of the provider.
    """
    backoff = Backoff()
    while True:
        try:
            message_id = send_invitation(claim.invitation)
        except RecipientNotVerified as error:
            since, now = claim.row.deferred_since, clock.now()
            if since and now - since >= _MAX_UNVERIFIED:
                return _store_end(claim, SolicitationState.REJECTED, error.reason)
            return _release(claim, error.reason)
        except MessageNotSent as error:
            if time_left_s() > _SEND_S + MAX_PAUSE_S and backoff.pause():
                continue
            return _release(claim, error.reason)
        except RecipientOptedOut:
            _suppress(claim.invitation)
            return _store_end(claim, SolicitationState.SKIPPED, SkipReason.SUPPRESSED)
        except MessageRejected as error:
            return _store_end(claim, SolicitationState.REJECTED, error.reason)
        except OutcomeUnknown as error:
            return _store_end(claim, SolicitationState.UNKNOWN, error.reason)
        except Exception as error:
            # The exception may have been raised before or after sending.
            logger.exception(
                "survey raised an exception",
                solicitation_id=claim.row.solicitation_id,
                **metric_fields("work", "solicitation", exceptions=1),
            )
            reason = type(error).__name__
            return _store_end(claim, SolicitationState.UNKNOWN, reason)
        return _store_sent(claim, message_id)


def _suppress(invitation: SurveyInvitation) -> None:
    """Suppress the recipient's phone number. The provider knows that the recipient opted out."""
    account_id, number = invitation.solicitation.account_id, invitation.customer.phone_number
    reason = SuppressionReason.UNSUBSCRIBED
    if contact_hash := address_hash(account_id, Channel.SMS, number):
        suppressions.suppress(account_id, contact_hash, Channel.SMS, reason, clock.now())


def _store_sent(claim: _Claim, message_id: str) -> SendingOutcome:
    invitation, now = claim.invitation, clock.now()
    sent = Key(MessageRow, message_id).row()
    sent.account_id, sent.solicitation_id = claim.row.account_id, invitation.purchase.id
    sent.customer_id, sent.contact_key = invitation.customer.id, invitation.contact_key
    sent.channel, sent.sent_at = invitation.channel.value, now
    sent.expires_at = int((now + RETENTION).timestamp())
    delay = timedelta(seconds=invitation.survey.reminder_delay)
    is_stored = solicitations.save_sent(
        claim.row, sent, now + delay if delay else None, claim.survey
    )
    return SendingOutcome.SENT if is_stored else SendingOutcome.CLAIM_LOST


def _release(claim: _Claim, reason: str) -> SendingOutcome:
    """Defer a claimed solicitation whose message was not sent."""
    is_stored = solicitations.release(claim.row, reason, clock.now())
    return SendingOutcome.DEFERRED if is_stored else SendingOutcome.CLAIM_LOST


def _store_end(claim: _Claim, state: SolicitationState, reason: str) -> SendingOutcome:
    """Store a final outcome other than SENT."""
    if not solicitations.save_end(claim.row, state, reason, clock.now()):
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
