"""Submissions to contact forms and surveys."""

from typing import Final

from pydantic import Field

from chalicelib.domain.feedback.answers import SubmittedAnswer
from chalicelib.domain.schema import Identifier, Input, Resource

MAX_SUBMISSION_BYTES: Final = 256 * 1024
MAX_ANSWERS: Final = 1_000


class ContactFormSubmission(Input):
    """A submission to a contact form."""

    id: Identifier = Field(description="Identifier of the contact form.")
    store: Identifier | None = Field(
        default=None, description="The store that the feedback is about."
    )
    brand: Identifier | None = Field(
        default=None, description="The brand of the contact form. Optional."
    )
    fields: list[SubmittedAnswer] = Field(
        default=[], max_length=MAX_ANSWERS, description="The answers, one item per field."
    )


class SurveySubmission(Input):
    """A submission to a survey."""

    id: Identifier = Field(description="Identifier of the survey.")
    tracker: Identifier | None = Field(
        default=None, description="The tracker from the survey link. Required for a private survey."
    )
    store: Identifier | None = Field(
        default=None, description="The store that the feedback is about, for a public survey."
    )
    brand: Identifier | None = Field(
        default=None, description="The brand that the feedback is about, for a public survey."
    )
    fields: list[SubmittedAnswer] = Field(
        default=[], max_length=MAX_ANSWERS, description="The answers, one item per field."
    )


class SurveySubmitted(Resource):
    """The response to a submission to a survey."""

    redirect_to: str = Field(
        description="Public review page to redirect the respondent to; empty if there is none.",
        examples=["https://reviews.example.com/new?place=1"],
    )
