"""What end users submit to contact forms and surveys (interface, endpoints 11 and 13)."""

from typing import Final

from pydantic import Field

from chalicelib.domain.feedback.answers import SubmittedAnswer
from chalicelib.domain.schema import Identifier, Input, Resource

MAX_SUBMISSION_BYTES: Final = 256 * 1024
MAX_ANSWERS: Final = 1_000


class ContactFormSubmission(Input):
    """What is submitted to a contact form."""

    id: Identifier = Field(description="The form that is answered.")
    store: Identifier | None = Field(default=None, description="The store that it is about.")
    brand: Identifier | None = Field(
        default=None, description="The form's own brand; it need not be said."
    )
    fields: list[SubmittedAnswer] = Field(
        default=[], max_length=MAX_ANSWERS, description="The answers, by field."
    )


class SurveySubmission(Input):
    """What is submitted to a survey."""

    id: Identifier = Field(description="The survey that is answered.")
    tracker: Identifier | None = Field(
        default=None, description="The tracker that led here; a private survey wants one."
    )
    store: Identifier | None = Field(
        default=None, description="The store that it is about, for a public survey."
    )
    brand: Identifier | None = Field(
        default=None, description="The brand that it is about, for a public survey."
    )
    fields: list[SubmittedAnswer] = Field(
        default=[], max_length=MAX_ANSWERS, description="The answers, by field."
    )


class SurveySubmitted(Resource):
    """The answer to a survey's submission."""

    redirect_to: str = Field(
        description="Page where a public review may be left, empty when there is none to go to.",
        examples=["https://reviews.example.com/new?place=1"],
    )
