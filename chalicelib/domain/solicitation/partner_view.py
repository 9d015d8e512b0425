"""The partner view of the survey about a purchase."""

from enum import StrEnum

from pydantic import Field

from chalicelib.domain.forms.labels import LabelValues
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.list_cursor import CursorMeta, CursorRequest
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import Choice, Identifier, Input, Resource, Timestamp, UuidText
from chalicelib.domain.solicitation.decide import HoldReason, SkipReason
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState


class TrackerState(Choice):
    """The state of the survey about a purchase."""

    PENDING = "PENDING"
    SENT = "SENT"
    SKIPPED = "SKIPPED"
    REJECTED = "REJECTED"
    UNKNOWN = "UNKNOWN"


TrackerReason = StrEnum(  # type: ignore[misc]
    "TrackerReason",
    {
        member.name: member.value
        for member in (*HoldReason, *SkipReason)
        if member is not SkipReason.ANSWERED
    },
)
TrackerReason.__doc__ = "Why a survey waits, or why it was not sent."


class SurveyTracker(Resource):
    """The survey about a purchase, with its state."""

    purchase_id: UuidText = Field(description="Identifier of the purchase.")
    customer_id: UuidText | None = Field(description="Identifier of the customer.")
    survey_id: UuidText | None = Field(
        description="Identifier of the survey; `null` until a survey is chosen."
    )
    store_id: UuidText = Field(description="Identifier of the store of the purchase.")
    state: TrackerState = Field(
        description="`PENDING`: will be decided or sent. `SENT`: handed to the provider. `SKIPPED`:"
        " not sent, see `reason`. `REJECTED`: the provider rejected the message. `UNKNOWN`: the"
        " message may have been sent.",
        examples=["SENT"],
    )
    reason: TrackerReason | None = Field(
        description="Why the survey waits or was skipped; `null` otherwise.", examples=[None]
    )
    channel: SendMode | None = Field(
        description="How the survey was sent; `LINK` if you have its link; `null` unless it was"
        " sent.",
        examples=["LINK"],
    )
    send_at: Timestamp | None = Field(
        description="While the survey waits: the time of the next decision, or the earliest time"
        " that you chose.",
        examples=[None],
    )
    sent_at: Timestamp | None = Field(
        description="Time at which the survey was sent, or at which its link was created."
    )
    reminded_at: Timestamp | None = Field(
        description="Time at which the reminder was sent; `null` if none was sent.", examples=[None]
    )
    answered_at: Timestamp | None = Field(
        description="Time of the answer; `null` without an answer. After the erasure of the"
        " customer, only the day remains (midnight UTC), without `feedbackId` and `id`. Erasures"
        " before 23 November 2026 left no day.",
        examples=[None],
    )
    feedback_id: UuidText | None = Field(
        description="Identifier of the feedback that contains the answer; `null` without an answer,"
        " and after the erasure of the customer.",
        examples=[None],
    )
    id: UuidText | None = Field(
        description="Identifier of the tracker; `null` until the survey is answered, because anyone"
        " who has it before can answer as the customer.",
        examples=[None],
    )
    link: str | None = Field(
        description="The link for your own channel, if `channel` is `LINK` and while the survey can"
        " be answered; `null` otherwise, and for a key without the permission `write`. A person who"
        " opens it answers as the customer.",
        examples=["https://api.example.com/s/g0X6xPC6SiSGnrKokELkNg"],
    )
    labels: dict[str, str] = Field(
        description="Labels of the link, by name.", examples=[{"table": "12"}]
    )


class SurveyTrackerList(Resource):
    """A page of survey trackers."""

    items: tuple[SurveyTracker, ...] = Field(
        description="The survey trackers, in the order of creation."
    )
    meta: CursorMeta


class SurveyTrackerListRequest(CursorRequest):
    """The requested page of survey trackers."""

    state: TrackerState | None = Field(default=None, description="Only surveys in this state.")
    customer_id: Identifier | None = Field(
        default=None, description="Only surveys of this customer."
    )


class SurveyLinkRequest(Input):
    """The request for a link to the survey about a purchase."""

    purchase_id: Identifier = Field(description="Identifier of the purchase.")
    labels: LabelValues = Field(
        default={},
        description="Labels that the feedback of this link contains, by name. The survey declares"
        " them with their allowed values. If you repeat the request, the first labels count.",
    )


_REASONS = set(TrackerReason)
_SENT_STATES = (TrackerState.SENT, TrackerState.REJECTED, TrackerState.UNKNOWN)


def tracker_state(solicitation: Solicitation) -> TrackerState:
    """Return the state of a solicitation for partners. Parked work is pending."""
    is_parked = solicitation.state is SolicitationState.PARKED
    return TrackerState.PENDING if is_parked else TrackerState(solicitation.state.value)


def survey_tracker(
    solicitation: Solicitation,
    purchase: Purchase,
    tracker: Tracker | None,
    link: str | None,
) -> SurveyTracker:
    """Return the partner view of a solicitation."""
    state = tracker_state(solicitation)
    is_pending, was_sent = state is TrackerState.PENDING, state in _SENT_STATES
    has_reason = (is_pending or state is TrackerState.SKIPPED) and solicitation.reason in _REASONS
    answered = tracker if tracker and tracker.used_at else None
    return SurveyTracker(
        purchase_id=solicitation.id,
        customer_id=solicitation.customer_id,
        survey_id=solicitation.survey_id,
        store_id=purchase.store_id,
        state=state,
        reason=TrackerReason(solicitation.reason) if has_reason else None,
        channel=solicitation.channel if was_sent else None,
        send_at=(solicitation.held_until or purchase.send_at) if is_pending else None,
        sent_at=solicitation.sent_at,
        reminded_at=solicitation.reminded_at,
        answered_at=answered.used_at if answered else solicitation.answered_on,
        feedback_id=answered.feedback_id if answered else None,
        id=answered.id if answered else None,
        link=link,
        labels=dict((tracker and tracker.labels) or {}),
    )
