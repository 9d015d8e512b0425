"""The public routes and their operations: forms as JSON, submissions, pages and their scripts.

Each view function imports its service on its first request. This keeps the start-up time short.
"""

from typing import TYPE_CHECKING, Any, Final

from chalice import Blueprint, Response

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.web.cacheable import cacheable
from chalicelib.web.openapi.operation import operation
from chalicelib.web.public.endpoint import PublicRequest, public_route
from chalicelib.web.query import identifier, query_errors

if TYPE_CHECKING:
    from chalicelib.services.forms.public import DisplayedForm

routes = Blueprint(__name__)

_JSON: Final = "application/json"
_MAX_AGE_S: Final = 60
"""The time for which views may be cached, unless the form opens or closes earlier."""

_TAG: Final = "Public forms"
_PAGES: Final = "Pages"
_LANGUAGE: Final = {
    "language": "Language of the form's texts, if the form is translated automatically. By"
    " default, `Accept-Language` determines the language."
}
_VIEW_PARAMETERS: Final = _LANGUAGE | {
    "If-None-Match": "The `ETag` of an earlier response. If nothing has changed, the status is 304."
}
_IDEMPOTENCY_KEY: Final = {
    "Idempotency-Key": "Makes retries safe. Use a new key of 1 to 255 printable ASCII characters"
    " for each submission. A second request with the same key and the same input stores nothing and"
    " gets the response of the first request."
}
_ANSWERS: Final = (
    " Answers to hidden fields are ignored; every visible required field must be answered."
    " Options and labels can be in any language of the form."
)
_SUBMISSION: Final = (
    "The answers, at most 256 KB. Send the array `fields` in one of three ways: as one JSON part;"
    " as one JSON part for each object; or as one part for each value, named `fields[0][id]` and"
    " `fields[0][values][0]` or `fields[0][values][]`. File parts are rejected."
)
_STORE: Final = "f648f0af-0303-5230-b619-1c59f038ec1e"
_INVALID: Final = {"store": "Lyon", "fields": [{"id": "nps", "values": "9"}]}
_PAGE_PARAMETERS: Final = {
    "store": "The store that the respondent gives feedback on.",
    "brand": "The brand that the respondent gives feedback on.",
    "language": "Language of the page, if the form is translated automatically. By default,"
    " `Accept-Language` determines the language.",
}
_PREFILL: Final = (
    " The parameters `a.<field key>=<value>` preselect answers to option and scale fields and"
    " submit nothing. The feedback contains the labels `l.<name>=<value>` that the form declares."
    " Errors are pages too."
)


@public_route(routes, "GET", "/public/contact-form")
@operation(
    tag=_TAG,
    description="Returns everything that is needed to display the contact form. A disabled"
    " or closed contact form is also returned, with `enabled` set to false.",
    parameters={"id": "Identifier of the contact form.", **_VIEW_PARAMETERS},
    response="forms.public.contact_form.PublicContactForm",
    returns="The contact form.",
    missing="contact form",
)
def show_contact_form(request: PublicRequest) -> Response:
    """Show a contact form."""
    from chalicelib.services.forms.public import get_public_contact_form

    form_id = identifier(request.http, "id")
    return _cacheable(request, get_public_contact_form(form_id, request.respondent))


@public_route(routes, "POST", "/public/contact-form/submit")
@operation(
    tag=_TAG,
    description=f"Stores a respondent's answers to a contact form.{_ANSWERS}",
    parameters=_IDEMPOTENCY_KEY | _LANGUAGE,
    body="feedback.submission.ContactFormSubmission",
    body_description=_SUBMISSION,
    examples={
        "A message": {
            "id": "986ded33-5051-5c50-87cc-22017665683b",
            "store": _STORE,
            "fields": [
                {"id": "9ca14ed4-8ec7-5a0b-a193-3c3c609c923b", "values": ["Ada Martin"]},
                {"id": "fe1702bf-e307-5c9c-af19-ed1178c89f9f", "values": ["ada@example.com"]},
                {"id": "3f057a5b-1d98-51c9-b944-c6bf21d860c0", "values": ["Something else"]},
                {"id": "3060ef56-e717-53a6-a56f-5fd37f78c147", "values": ["Is it open?"]},
            ],
        },
    },
    invalid=_INVALID,
    returns="The answers are stored.",
    missing="contact form",
    errors=("form_disabled",),
)
def submit_contact_form(request: PublicRequest) -> Response:
    """Submit a contact form."""
    return _submit(request, is_survey=False)


@public_route(routes, "GET", "/public/survey")
@operation(
    tag=_TAG,
    description="Returns everything that is needed to display the survey. A private survey requires"
    " the tracker from the survey link. The tracker determines the store, brand, and order, and the"
    " response to a request with a tracker must not be cached.",
    parameters={
        "survey": "Identifier of the survey.",
        "tracker": "Tracker from the survey link.",
        "store": "The store that the respondent gives feedback on. If the request also contains"
        " a brand, the store must belong to this brand.",
        "brand": "The brand that the respondent gives feedback on. If there is no store either and"
        " the survey has exactly one enabled target, the default is the brand of this target.",
        **_VIEW_PARAMETERS,
    },
    response="forms.public.survey.PublicSurvey",
    returns="The survey.",
    missing="survey",
    errors=("tracker_required", "tracker_used"),
)
def show_survey(request: PublicRequest) -> Response:
    """Show a survey."""
    from chalicelib.services.forms.public import get_public_survey
    from chalicelib.web.public.form_request import form_ids

    ids = form_ids(request, is_survey=True)
    with query_errors():
        survey = get_public_survey(ids, request.respondent)
    if not ids.tracker_id:
        return _cacheable(request, survey)
    return Response(
        survey.json,
        status_code=200,
        headers={"Content-Type": _JSON, "Cache-Control": "private, no-store"},
    )


@public_route(routes, "POST", "/public/survey/submit")
@operation(
    tag=_TAG,
    description=f"Stores a respondent's answers to a survey.{_ANSWERS} A tracker is valid for one"
    " submission. With `step=save` and a tracker, the answers are saved although the respondent has"
    " only tapped them: ratings and choices, of which none is required. Later saves and the"
    " submission replace them. If nothing is sent, they become feedback with `partial: true` four"
    " hours after the first save.",
    parameters=_IDEMPOTENCY_KEY | _LANGUAGE,
    body="feedback.submission.SurveySubmission",
    body_description=_SUBMISSION,
    examples={
        "A rating": {
            "id": "64a2e9f8-e706-5483-a58d-80df6bd76f2a",
            "store": _STORE,
            "labels": {"table": "12"},
            "fields": [
                {"id": "82b7f20e-3155-58ba-9c09-8bce3d6ca3fa", "values": ["9"]},
                {"id": "b7979f40-e0ef-570d-9e23-f241bf31a96b", "values": ["5"]},
                {"id": "c5707217-8744-566d-a27e-3ef42389ea72", "values": ["Food"]},
            ],
        },
    },
    invalid=_INVALID,
    response="feedback.submission.SurveySubmitted",
    returns="The answers are stored.",
    no_content="The `step` was accepted. It has no effect if the tracker is used, after 30 saves,"
    " or if the survey saves no taps.",
    missing="survey",
    errors=("tracker_required", "form_disabled"),
)
def submit_survey(request: PublicRequest) -> Response:
    """Submit a survey."""
    return _submit(request, is_survey=True)


def _submit(request: PublicRequest, *, is_survey: bool) -> Response:
    from chalicelib.web.public.accept_submission import (
        accept_submission,
        accept_taps,
        read_submission,
    )

    posted = read_submission(request, is_survey=is_survey)
    if posted.is_step:
        accept_taps(request, posted)
        return Response("", status_code=204, headers={"Cache-Control": "no-store"})
    if request.accepts_html:
        from chalicelib.web.public.submission_page import submit_page

        return submit_page(request, posted)
    feedback = accept_submission(request, posted)
    if not is_survey:
        return Response("", status_code=204, headers={"Cache-Control": "no-store"})
    from chalicelib.domain.feedback.submission import SurveySubmitted

    return Response(
        SurveySubmitted(redirect_to=feedback.redirect_to).model_dump_json(),
        status_code=201,
        headers={"Content-Type": _JSON, "Cache-Control": "no-store"},
    )


@public_route(routes, "GET", "/public/contact-form/page", is_page=True)
@operation(
    tag=_PAGES,
    description=f"Returns the page on which a respondent answers the contact form.{_PREFILL}",
    parameters={"id": "Identifier of the contact form.", **_PAGE_PARAMETERS},
    returns="The page.",
    media_types=("text/html",),
    cache_header="PageCopy",
    missing="contact form",
    errors=("form_disabled",),
)
def open_contact_form_page(request: PublicRequest) -> Response:
    """Open the page of a contact form."""
    from chalicelib.web.public.form_page import show_page

    return show_page(request, is_survey=False)


@public_route(routes, "GET", "/public/survey/page", is_page=True)
@operation(
    tag=_PAGES,
    description="Returns the page on which a respondent answers the survey. A private survey"
    f" requires the tracker from the survey link.{_PREFILL}",
    parameters={
        "survey": "Identifier of the survey.",
        "tracker": "Tracker from the survey link.",
        **_PAGE_PARAMETERS,
    },
    returns="The page.",
    media_types=("text/html",),
    cache_header="PageCopy",
    missing="survey",
    errors=("tracker_required", "form_disabled"),
)
def open_survey_page(request: PublicRequest) -> Response:
    """Open the page of a survey."""
    from chalicelib.web.public.form_page import show_page

    return show_page(request, is_survey=True)


@public_route(routes, "GET", "/public/assets/{digest}/{name}")
@operation(
    tag=_PAGES,
    description="Returns a script that pages use. Its path contains a hash of its content, so"
    " browsers cache the script for a year.",
    parameters={"digest": "Hash of the file's content.", "name": "Name of the file."},
    returns="The file.",
    media_types=("text/javascript",),
    cache_header="Cacheable",
    missing="file",
)
def get_page_asset(request: PublicRequest) -> Response:
    """Get the script of pages."""
    from chalicelib.web.pages.assets import SCRIPTS, asset_hash

    path = request.http.uri_params or {}
    name = path.get("name", "")
    if name not in SCRIPTS or path.get("digest") != asset_hash(name):
        raise NotFound("file")
    return _script(name, "public, max-age=31536000, immutable")


@public_route(routes, "GET", "/public/embed.js")
@operation(
    tag=_PAGES,
    description='Returns the script for `<script src="…/public/embed.js" data-contact-form="ID">`'
    ' or `data-survey="ID"`. The script inserts the page of the form in a frame that grows with'
    " its content. The page receives the attributes `data-tracker`, `data-store`, `data-brand` and"
    " `data-language`; `data-title` sets the title of the frame,"
    ' `data-answers="nps=9"` preselects answers, `data-labels="table=12"` sets labels, and'
    ' `data-chrome="none"` omits logo, cover, footer and background. With'
    ' `data-popup="Text"`, a button opens the form in a dialog; `data-close`'
    " names its close button. The script element dispatches the events `feedback:opened`,"
    " `feedback:submitted` and `feedback:closed`, which contain no answers. The script and the"
    " frame use no cookies and need no storage.",
    returns="The script.",
    media_types=("text/javascript",),
    cache_header="Cacheable",
)
def get_embed_script(request: PublicRequest) -> Response:
    """Get the script that embeds a form."""
    from chalicelib.web.pages.assets import EMBED

    return _script(EMBED, "public, max-age=3600")


def _script(name: str, cache_control: str) -> Response:
    from chalicelib.web.pages.assets import SCRIPT_TYPE, asset_text

    return Response(asset_text(name), {"Content-Type": SCRIPT_TYPE, "Cache-Control": cache_control})


def _cacheable(request: PublicRequest, form: "DisplayedForm[Any]") -> Response:
    # `Accept-Language` may determine the language of the view.
    vary = {"Vary": "Accept-Language"}
    left_s = int((form.until - clock.now()).total_seconds()) if form.until else _MAX_AGE_S
    max_age_s = max(0, min(_MAX_AGE_S, left_s))
    return cacheable(request.http, form.json, _JSON, max_age_s=max_age_s, headers=vary)
