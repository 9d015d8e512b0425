"""The partner view of the survey about a purchase."""

from enum import StrEnum

from pydantic import Field

from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.schema import Resource, Timestamp, UuidText
from chalicelib.domain.solicitation.decide import HoldReason, SkipReason
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState


class TrackerState(StrEnum):
    """What became of the survey about a purchase."""

    PENDING = "PENDING"
    SENT = "SENT"
    SKIPPED = "SKIPPED"
    REJECTED = "REJECTED"
    UNKNOWN = "UNKNOWN"


class TrackerChannel(StrEnum):
    """How a survey reached the customer."""

    EMAIL = "EMAIL"
    SMS = "SMS"


TrackerReason = StrEnum(  # type: ignore[misc]
    "TrackerReason", {member.name: member.value for member in (*HoldReason, *SkipReason)}
)
TrackerReason.__doc__ = "Why a survey waits, or why it was not sent."


class SurveyTracker(Resource):
    """The survey about a purchase: whether it waits, was sent, was skipped, was answered."""

    purchase_id: UuidText = Field(description="Identifier of the purchase.")
    customer_id: UuidText | None = Field(description="Identifier of the customer.")
    survey_id: UuidText | None = Field(
        description="Identifier of the survey; `null` until a survey is chosen."
    )
    store_id: UuidText = Field(description="Identifier of the store of the purchase.")
    state: TrackerState = Field(
        description="`PENDING`: will be decided or sent. `SENT`: handed to the provider. `SKIPPED`:"
        " not sent, see `reason`. `REJECTED`: the provider rejected the message. `UNKNOWN`: the"
        " message may have been sent."
    )
    reason: TrackerReason | None = Field(
        description="Why the survey waits or was skipped; `null` otherwise."
    )
    channel: TrackerChannel | None = Field(
        description="How the survey was sent; `null` unless it was sent."
    )
    send_at: Timestamp | None = Field(
        description="While the survey waits: the time of the next decision, or the earliest time"
        " that you chose."
    )
    sent_at: Timestamp | None = Field(description="Time at which the survey was sent.")
    answered_at: Timestamp | None = Field(description="Time of the answer.")
    feedback_id: UuidText | None = Field(description="Identifier of the feedback of the answer.")
    id: UuidText | None = Field(
        description="Identifier of the tracker, once the survey was answered. Before, it would"
        " allow to answer as the customer."
    )


_REASONS = set(TrackerReason)
_SENT_STATES = ("SENT", "REJECTED", "UNKNOWN")


def survey_tracker(
    solicitation: Solicitation, store_id: str, tracker: Tracker | None
) -> SurveyTracker:
    """Return the partner view of a solicitation. Parked work is pending for partners."""
    is_parked = solicitation.state is SolicitationState.PARKED
    state = TrackerState.PENDING if is_parked else TrackerState(solicitation.state.value)
    is_pending, was_sent = state is TrackerState.PENDING, state.value in _SENT_STATES
    has_reason = (is_pending or state is TrackerState.SKIPPED) and solicitation.reason in _REASONS
    channel = solicitation.channel if was_sent else None
    answered = tracker if tracker and tracker.used_at else None
    return SurveyTracker(
        purchase_id=solicitation.id,
        customer_id=solicitation.customer_id,
        survey_id=solicitation.survey_id,
        store_id=store_id,
        state=state,
        reason=TrackerReason(solicitation.reason) if has_reason else None,
        channel=TrackerChannel(channel.value) if channel else None,
        send_at=(solicitation.held_until or solicitation.send_at) if is_pending else None,
        sent_at=solicitation.sent_at,
        answered_at=answered.used_at if answered else None,
        feedback_id=answered.feedback_id if answered else None,
        id=answered.id if answered else None,
    )
