"""Submissions to contact forms and surveys."""

import json
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError, PydanticKnownError

from chalicelib.domain.feedback.answers import SubmittedAnswer
from chalicelib.domain.forms.labels import MAX_LABELS, LabelValues
from chalicelib.domain.forms.wording import FormVersion
from chalicelib.domain.parsing import DuplicateProperty, json_object
from chalicelib.domain.schema import Identifier, Input, Resource

MAX_SUBMISSION_BYTES: Final = 256 * 1024
MAX_ANSWERS: Final = 1_000
MAX_TOTAL_VALUES: Final = 10_000
"""Maximum number of values in one submission, in total for all answers."""


def _check_total(fields: Any) -> Any:
    """Reject a submission with too many answers or values before Pydantic validates it.

    Pydantic validates every value of a list before it reports an error, so this check limits the
    cost of validation.
    """
    if not isinstance(fields, list):
        return fields
    if len(fields) > MAX_ANSWERS:
        # Pydantic counts only valid items.
        context = {"max_length": MAX_ANSWERS, "actual_length": len(fields)}
        raise PydanticKnownError("too_long", {"field_type": "List"} | context)
    answers = [answer for answer in fields if isinstance(answer, dict)]
    values = [answer.get("values") for answer in answers]
    total = sum(len(listed) for listed in values if isinstance(listed, list))
    if max(total, sum(map(len, answers))) > MAX_TOTAL_VALUES:
        detail = f"Must have at most {MAX_TOTAL_VALUES} values in total."
        raise PydanticCustomError("too_many", detail)
    return fields


_Answers = Annotated[list[SubmittedAnswer], BeforeValidator(_check_total)]
_ANSWERS: Final[Any] = Field(
    default=[],
    max_length=MAX_ANSWERS,
    description="The answers, one item per field, with at most 10,000 values in total.",
)


_VERSION: Final[Any] = Field(
    default=None,
    description="The version of the form that the respondent saw. Pages of the service send it."
    " Without it, the current version counts.",
)


def _parse_labels(part: Any) -> Any:
    """Parse the JSON of a part, and check the number of labels; see `_check_total`."""
    try:
        labels = json.loads(part, object_pairs_hook=json_object) if isinstance(part, str) else part
    except DuplicateProperty as error:
        raise PydanticCustomError("duplicate", str(error)) from None
    except (ValueError, RecursionError):
        raise PydanticCustomError("malformed", "Invalid JSON.") from None
    if isinstance(labels, dict) and len(labels) > MAX_LABELS:
        context = {"max_length": MAX_LABELS, "actual_length": len(labels)}
        raise PydanticKnownError("too_long", {"field_type": "Dictionary"} | context)
    return labels


_Labels = Annotated[LabelValues, BeforeValidator(_parse_labels)]
_LABELS: Final[Any] = Field(
    default=None,
    description="The labels of the link that the respondent opened, by name, as JSON. The form"
    " declares them with their allowed values.",
)


class ContactFormSubmission(Input):
    """A submission to a contact form."""

    id: Identifier = Field(description="Identifier of the contact form.")
    store: Identifier | None = Field(
        default=None, description="The store that the feedback is about."
    )
    brand: Identifier | None = Field(
        default=None, description="The brand of the contact form. Optional."
    )
    version: FormVersion | None = _VERSION
    labels: _Labels | None = _LABELS
    fields: _Answers = _ANSWERS


class SurveySubmission(Input):
    """A submission to a survey, or a step before it."""

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
    version: FormVersion | None = _VERSION
    step: Annotated[str, StringConstraints(pattern="^(save|follow)$")] | None = Field(
        default=None,
        description="`save`: the respondent has tapped these answers and not sent them. `follow`:"
        " the respondent follows the offer of a review. Both need a tracker.",
    )
    sequence: Annotated[str, StringConstraints(pattern="^[0-9]{1,16}$")] | None = Field(
        default=None,
        description="With `step`: digits. A save with a lower number than an earlier one with the"
        " same idempotency key has no effect.",
    )
    labels: _Labels | None = _LABELS
    fields: _Answers = _ANSWERS


AnySubmission = ContactFormSubmission | SurveySubmission


class SurveySubmitted(Resource):
    """The response to a submission to a survey."""

    redirect_to: str = Field(
        description="URL of the review page to redirect the respondent to; empty if there is none.",
        examples=["https://reviews.example.com/new?place=1"],
    )
