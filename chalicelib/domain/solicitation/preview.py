"""The preview of the survey about a purchase."""

from dataclasses import replace

from pydantic import Field

from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.schema import Resource, Timestamp, UuidText
from chalicelib.domain.solicitation.decide import Facts, Send, Skip, SkipReason, foresee
from chalicelib.domain.solicitation.explanation import outcome_in_words
from chalicelib.domain.solicitation.partner_view import TrackerReason, TrackerState, tracker_state
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationState


class SurveyPreview(Resource):
    """The survey that would follow a purchase, or the reason why none would."""

    state: TrackerState = Field(
        description="`PENDING`: a survey would be sent. `SKIPPED`: none, see `reason`. Other states"
        " are those of a survey that an earlier report of this purchase caused.",
        examples=["PENDING"],
    )
    survey_id: UuidText | None = Field(
        description="Identifier of the survey; `null` if none would be sent, and if it would be"
        " chosen more than 366 days ahead."
    )
    channel: SendMode | None = Field(
        description="How the survey would be sent; `null` without `surveyId`.", examples=["EMAIL"]
    )
    send_at: Timestamp | None = Field(
        description="When the survey would be sent; `null` if none would be sent."
    )
    reason: TrackerReason | None = Field(
        description="Why the survey would wait until `sendAt`, or why none would be sent; `null` if"
        " it would be sent at once. An erased person is `SUPPRESSED`.",
        examples=["SEND_AT"],
    )
    explanation: str = Field(
        description="The same in words, which can change.",
        examples=[
            "a survey will be sent through EMAIL after 2026-11-30T09:00:00.000Z: the partner chose"
            " this time"
        ],
    )


def preview(solicitation: Solicitation, facts: Facts) -> SurveyPreview:
    """Return what follows from the facts, or the outcome that the solicitation has already."""
    decision, send_at, hold = foresee(facts)
    if isinstance(decision, Skip) and not solicitation.outcome_is_final:
        skipped = SolicitationState.SKIPPED
        solicitation = replace(solicitation, state=skipped, reason=decision.reason.value)
    if solicitation.reason == SkipReason.ERASED:
        # The address in the request may be a guess, which must not be confirmed.
        solicitation = replace(solicitation, reason=SkipReason.SUPPRESSED.value)
    if solicitation.outcome_is_final:
        is_skipped = solicitation.state is SolicitationState.SKIPPED
        return SurveyPreview(
            state=tracker_state(solicitation),
            survey_id=solicitation.survey_id,
            channel=solicitation.channel,
            send_at=solicitation.sent_at,
            reason=TrackerReason(solicitation.reason) if is_skipped else None,
            explanation=outcome_in_words(solicitation, facts),
        )
    survey, channel = (
        (decision.survey.id, decision.channel) if isinstance(decision, Send) else (None, None)
    )
    return SurveyPreview(
        state=TrackerState.PENDING,
        survey_id=survey,
        channel=SendMode(channel) if channel else None,
        send_at=send_at,
        reason=TrackerReason(hold) if hold else None,
        explanation=outcome_in_words(solicitation, facts),
    )
