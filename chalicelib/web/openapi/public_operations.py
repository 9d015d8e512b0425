"""The public endpoints, in words: forms as end users get them, and what they submit."""

from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.errors import (
    Conflict,
    IdempotencyKeyReused,
    InputTooLarge,
    InvalidInput,
    NotAllowed,
    NotFound,
)
from chalicelib.domain.feedback.submission import (
    MAX_SUBMISSION_BYTES,
    ContactFormSubmission,
    SurveySubmission,
    SurveySubmitted,
)
from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.input_errors import InputError
from chalicelib.web.openapi import public_examples as example
from chalicelib.web.openapi.operation import Answer, Operation, Parameter, RequestBody
from chalicelib.web.openapi.operations import END_USERS, IDEMPOTENCY_KEY
from chalicelib.web.problems import UnsupportedMediaType
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART

_UUID: Final = {"type": "string", "format": "uuid"}

_LANGUAGE: Final = Parameter(
    "language",
    "The one language that the texts are wanted in, where the form is translated automatically."
    " Without it `Accept-Language` counts.",
    {"type": "string"},
    "fr",
)
_IF_NONE_MATCH: Final = Parameter(
    "If-None-Match",
    "The `ETag` of an earlier answer, to be told when nothing has changed.",
    {"type": "string"},
    'W/"3f9c2a7d51e84b06"',
    place="header",
)
_NOT_CHANGED: Final = Answer(
    304, "It has not changed since it was read.", None, headers=("ETag", "MayBeKeptBriefly")
)
_FIELDS: Final = (
    " `fields` is an array of objects, written in one of three ways: one part that holds the array"
    " as JSON; a part for each object, as JSON; or a part for each text, named `fields[0][id]` and"
    " `fields[0][values][0]` or `fields[0][values][]`. Files are refused."
)
_ANSWERS: Final = (
    "Only answers to fields that are shown count; a required one that is shown must be answered."
    " Values may be sent in the form's own words or in those of the language that was shown."
)


def _showing(
    path: str,
    identifier: str,
    resource: str,
    description: str,
    model: type[BaseModel],
    answer: Any,
    parameters: tuple[Parameter, ...],
    errors: tuple[Any, ...],
) -> Operation:
    return Operation(
        "GET",
        path,
        identifier,
        END_USERS,
        f"Show a {resource}",
        description,
        (
            Answer(
                200,
                f"The {resource}.",
                model,
                answer,
                headers=("ETag", "MayBeKeptBriefly"),
            ),
            _NOT_CHANGED,
        ),
        parameters=(*parameters, _LANGUAGE, _IF_NONE_MATCH),
        errors=(
            InvalidInput([InputError(f"?{parameters[0].name}", "required", "Required.")]),
            NotFound(resource),
            *errors,
        ),
        needs_credentials=False,
    )


def _submitting(
    path: str,
    identifier: str,
    resource: str,
    description: str,
    answer: Answer,
    body: RequestBody,
    errors: tuple[Any, ...] = (),
) -> Operation:
    return Operation(
        "POST",
        path,
        identifier,
        END_USERS,
        f"Submit a {resource}",
        description,
        (answer,),
        parameters=(IDEMPOTENCY_KEY, _LANGUAGE),
        body=body,
        errors=(
            InvalidInput([InputError("/fields/0", "required", "The field … must be answered.")]),
            NotFound(resource),
            Conflict("This form takes no answers at present."),
            InputTooLarge("body", MAX_SUBMISSION_BYTES),
            UnsupportedMediaType(MULTIPART),
            IdempotencyKeyReused(),
            *errors,
        ),
        needs_credentials=False,
    )


PUBLIC_OPERATIONS: Final = (
    _showing(
        "/public/contact-form",
        "showContactForm",
        "contact form",
        "A contact form as end users get it, with all that is needed to display it. A disabled"
        " one is shown too: `enabled` says so.",
        PublicContactForm,
        example.PUBLIC_CONTACT_FORM,
        (Parameter("id", "The contact form.", _UUID, example.CONTACT_FORM_ID, required=True),),
        (),
    ),
    _submitting(
        "/public/contact-form/submit",
        "submitContactForm",
        "contact form",
        f"Keeps what somebody answered to a contact form. {_ANSWERS}",
        Answer(204, "It is kept.", None),
        RequestBody(
            ContactFormSubmission,
            f"The answers, {MAX_SUBMISSION_BYTES // 1024} KB at most.{_FIELDS}",
            {"A message": example.CONTACT_FORM_SUBMISSION},
            media_type=MULTIPART,
        ),
    ),
    _showing(
        "/public/survey",
        "showSurvey",
        "survey",
        "A survey as end users get it. A private survey wants the tracker that its link carries;"
        " store, brand and order follow from the tracker then, and nobody may keep the answer.",
        PublicSurvey,
        example.PUBLIC_SURVEY,
        (
            Parameter("survey", "The survey.", _UUID, example.SURVEY_ID, required=True),
            Parameter("tracker", "The tracker that led here.", _UUID, example.TRACKER_ID),
            Parameter("store", "The store that it is about.", _UUID, example.STORE_ID),
            Parameter("brand", "The brand that it is about.", _UUID, example.BRAND_ID),
        ),
        (
            NotAllowed("This survey may only be used with a tracker."),
            Conflict("This tracker was already used: the survey is answered."),
        ),
    ),
    _submitting(
        "/public/survey/submit",
        "submitSurvey",
        "survey",
        f"Keeps what somebody answered to a survey. {_ANSWERS} A tracker takes one submission.",
        Answer(201, "It is kept.", SurveySubmitted, example.SURVEY_SUBMITTED),
        RequestBody(
            SurveySubmission,
            f"The answers, {MAX_SUBMISSION_BYTES // 1024} KB at most.{_FIELDS}",
            {"An answer": example.SURVEY_SUBMISSION},
            media_type=MULTIPART,
        ),
        errors=(NotAllowed("This survey may only be used with a tracker."),),
    ),
)
