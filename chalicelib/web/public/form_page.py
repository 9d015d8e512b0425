"""Return the pages of contact forms and surveys: question before a survey, form, and thank-you.

Every page works without script. The script improves the form: it evaluates the conditions while the
respondent answers, and sends the answers without leaving the page.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from chalice import Response

from chalicelib.domain.feedback.answers import Questionnaire
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.forms.field_types import Control
from chalicelib.domain.forms.fields import SavedField
from chalicelib.domain.forms.layout import sections_of
from chalicelib.domain.forms.pre_redirect import PreRedirectConfig
from chalicelib.domain.forms.presentation import Layout
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.idempotency import PART as IDEMPOTENCY_PART
from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.links import ANSWER_PREFIX, LABEL_PREFIX
from chalicelib.services.caching import cached
from chalicelib.services.feedback.save_taps import find_saved_answers
from chalicelib.services.forms.cached_forms import AnyCachedForm
from chalicelib.services.forms.public import DisplayedForm
from chalicelib.web.pages.fields import Answers, DisplayedField, displayed_fields
from chalicelib.web.pages.html import View, page_response
from chalicelib.web.pages.pre_redirect import (
    ASKED,
    FORM,
    SCORE,
    STEP,
    asked_config,
    field_answered_by,
    question,
    rating_of,
)
from chalicelib.web.pages.script_data import script_data
from chalicelib.web.pages.steps import steps_of
from chalicelib.web.pages.words import PageWords, page_words
from chalicelib.web.problems import Headers
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.form_request import FormRequest
from chalicelib.web.public.submission_body import HONEYPOT
from chalicelib.web.query import text, texts

_MAX_CACHED_PAGES: Final = 128
_HISTORY_COPY: Final = {"Cache-Control": "private, max-age=0"}
"""The headers of a page that the browser keeps until the tab is closed.

If the respondent goes back, the browser displays its own copy of the page, with the same
idempotency key. If the respondent opens the link, the browser loads a new page.
"""


@dataclass(frozen=True)
class FormState:
    """The state of a displayed form.

    Attributes:
        answers: the values of each answer, by field id, in the form's original language.
        errors: the error code of each invalid answer, by field id.
        message: an error that belongs to no field; ``""`` if there is none.
        idempotency_key: the key of the submission. A form that is displayed again keeps the key.
    """

    answers: Answers = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    idempotency_key: str = ""


@cached(at_most=_MAX_CACHED_PAGES)
def _blank_page(wanted: FormRequest, form: DisplayedForm[View]) -> tuple[list[str], Headers]:
    """Return the page on which nothing is answered yet. Many requests share this page.

    Returns:
        The HTML before and after the idempotency key, and the headers.
    """
    key = new_id()
    page = show_form(wanted, form, FormState(idempotency_key=key), headers=_HISTORY_COPY)
    return str(page.body).split(key), page.headers


def show_page(request: PublicRequest, *, is_survey: bool) -> Response:
    """Return the page of a contact form or a survey.

    Sends the same AWS requests as the public view, and one more if answers are saved.

    Raises:
        InvalidInput, TrackerRequired, NotFound, Conflict: see `display_contact_form` and
            `display_survey`.
    """
    wanted, form = FormRequest.of_query(request, is_survey=is_survey).display(request.respondent)
    given = dict(texts(request.http, ANSWER_PREFIX))
    questionnaire, score = form.cached.questionnaire, text(request.http, SCORE)
    config = asked_config(form.view) if isinstance(form.view, PublicSurvey) else None
    first = field_answered_by(config, questionnaire.fields.values()) if config else None
    if first and score:
        given.setdefault(first.key, [score])
    answers = _with_saved(form, questionnaire.preselected(given))
    if config and not wanted.is_offered:
        score = score or next(iter(answers.get(first.id, ())), None) if first else score
        before = _page_before_form(request, wanted, form, config, first, score)
        if before:
            return before
    if answers or wanted.ids.tracker_id:
        return show_form(wanted, form, FormState(answers))
    around_key, headers = _blank_page(wanted, form)
    return Response(new_id().join(around_key), dict(headers))


def _with_saved(form: DisplayedForm[Any], linked: Answers) -> Answers:
    """Return the answers of the link together with the saved ones.

    An answer of the link takes precedence, unless it was saved before: then it is older.
    """
    tracker, questionnaire = form.context.tracker, form.cached.questionnaire
    saved = questionnaire.preselected(find_saved_answers(tracker)) if tracker else {}
    if saved and tracker and questionnaire.rating_of(linked) in {s.rating for s in tracker.saves}:
        return saved
    return {**saved, **linked}


def show_form(
    wanted: FormRequest,
    form: DisplayedForm[View],
    state: FormState,
    status: int = 200,
    headers: Mapping[str, str] = {},
) -> Response:
    """Return the page with the form in this state; see `page_response`.

    Invalid answers to hidden or removed fields are dropped, because the respondent cannot correct
    them.
    """
    view, saved, questionnaire = form.view, form.cached.saved, form.cached.questionnaire
    words = page_words(view.language)
    visible = questionnaire.visible_fields(state.answers)
    dropped = state.errors.keys() - visible
    answers = {name: texts for name, texts in state.answers.items() if name not in dropped}
    displayed = displayed_fields(saved, words, answers, visible, state.errors)
    sections = [
        (section.name, [[displayed[field.id] for field in row] for row in section.rows])
        for section in sections_of(saved.fields, view.field_groups)
    ]
    rows = [row for _, rows in sections for row in rows]
    fields = [shown for row in rows for shown in row]
    ids = wanted.ids
    has_place = ids.tracker_id or ids.brand_id or wanted.has_fixed_store
    asks_for_store = not has_place and len(view.store_list) > 1
    is_conditional = bool(saved.field_dependencies)
    steps = None
    if saved.layout is Layout.STEPS:
        steps = steps_of(rows, words, is_conditional=is_conditional, has_store=asks_for_store)
    saves_taps = bool(form.context.tracker) and isinstance(saved, SavedSurvey) and saved.save_taps
    noted = rows[steps.now] if steps and steps.now < len(rows) else fields
    return page_response(
        "form.html",
        view.language,
        view,
        status,
        headers,
        context=form.context,
        untranslated=form.untranslated,
        steps=steps,
        saves_at=_first_tapped(noted, questionnaire) if saves_taps else None,
        sections=sections,
        controls={shown.control for shown in fields},
        action=_action(wanted, view),
        hidden=_hidden_parts(
            wanted, view, form.cached.version, state, with_store=not asks_for_store
        ),
        honeypot=HONEYPOT,
        stores=view.store_list if asks_for_store else (),
        store=ids.store_id,
        is_conditional=is_conditional,
        has_required=any(shown.is_required for shown in fields),
        message=state.message or (words.not_sent if dropped else ""),
        summary=[shown for shown in fields if shown.error and shown.is_visible],
        data=_script_data(form.cached, words, saves_taps),
    )


@cached(at_most=_MAX_CACHED_PAGES)
def _script_data(form: AnyCachedForm, words: PageWords, saves_taps: bool) -> Mapping[str, Any]:
    numbers = {field.id: number for number, field in enumerate(form.saved.fields)}
    return script_data(form.questionnaire, numbers, words, saves_taps=saves_taps)


def _first_tapped(fields: Sequence[DisplayedField], questionnaire: Questionnaire) -> str | None:
    """Return the id of the field beside which the page says that taps are saved."""
    visible = [shown.id for shown in fields if shown.is_visible]
    tapped = (each for each in visible if questionnaire.fields[each].has_options)
    return next(tapped, next(iter(visible), None))


def show_thanks(
    form: DisplayedForm[View], feedback: Feedback, *, is_offered: bool = False
) -> Response:
    """Return the page that thanks the respondent and links to the review page, if there is one.

    Args:
        is_offered: whether the respondent was offered a review before. It is offered once.
    """
    view = form.view
    return page_response(
        "thanks.html",
        view.language,
        view,
        context=form.context,
        untranslated=form.untranslated,
        redirect_to="" if is_offered else feedback.redirect_to,
        received=page_words(view.language).received_rating(feedback.rating),
    )


def _page_before_form(
    request: PublicRequest,
    wanted: FormRequest,
    form: DisplayedForm[View],
    config: PreRedirectConfig,
    first: SavedField | None,
    score: str | None,
) -> Response | None:
    """Return the page with the question, or with the offer after the question, or None.

    If the result is None, the form is displayed.

    Args:
        first: the field of the form that the question answers, or None.
        score: the answer to the question, or None.
    """
    rating, view = rating_of(config, score), form.view
    words = page_words(view.language)
    parameters = _parameters(request)
    respond = partial(
        page_response,
        language=view.language,
        form=view,
        context=form.context,
        untranslated=form.untranslated,
        steps=None,
        config=config,
        tap=_tap(wanted, form, first, score, words),
    )
    if rating is None:
        is_missing = text(request.http, ASKED) is not None
        field = question(config, words, is_missing=is_missing)
        return respond("question.html", field=field, parameters=[*parameters, (ASKED, "1")])
    if rating < config.threshold:
        return None
    link = "page?" + urlencode([*parameters, (SCORE, score or ""), (STEP, FORM)])
    return respond("offer.html", form_link=link)


def _tap(
    wanted: FormRequest,
    form: DisplayedForm[View],
    first: SavedField | None,
    score: str | None,
    words: PageWords,
) -> dict[str, Any] | None:
    """Return the data with which the script saves the tap on the question or the offer.

    If there is no field for it, or the survey saves no taps, the script reports that the respondent
    follows the offer. None without a tracker.
    """
    if not form.context.tracker:
        return None
    parts = _hidden_parts(wanted, form.view, form.cached.version, FormState(), with_store=True)
    action = _action(wanted, form.view)
    saved = form.cached.saved
    if not (first and isinstance(saved, SavedSurvey) and saved.saves_first_tap):
        return {"action": action, "parts": {**dict(parts), "step": "follow"}, "field": None}
    is_scale = first.type.rules.display.control is Control.SCALE
    text = words.saved_rating % {"rating": score} if is_scale else words.saved
    tap = {"action": action, "parts": dict(parts), "field": first.id}
    return tap | ({"score": score, "saved": text} if score else {})


def _parameters(request: PublicRequest) -> list[tuple[str, str]]:
    """Return the query parameters that every step before the form keeps."""
    names = ("survey", "tracker", "store", "brand", "language")
    kept = [(name, value) for name in names if (value := text(request.http, name))]
    for prefix in (LABEL_PREFIX, ANSWER_PREFIX):
        for name, values in texts(request.http, prefix).items():
            kept += [(prefix + name, value) for value in values]
    return kept


def _action(wanted: FormRequest, view: View) -> str:
    """Return the URL that submits the form. Its query is needed to display the form again."""
    query = {
        "language": view.language if view.auto_translate else None,
        "store": wanted.ids.store_id if wanted.has_fixed_store else None,
        STEP: FORM if wanted.is_offered else None,
        **{LABEL_PREFIX + name: value for name, value in wanted.labels},
    }
    given = {name: value for name, value in query.items() if value}
    return "submit?" + urlencode(given) if given else "submit"


def _hidden_parts(
    wanted: FormRequest, view: View, version: str, state: FormState, *, with_store: bool
) -> list[tuple[str, str]]:
    ids = wanted.ids
    parts = {
        "id": view.id,
        "version": version,
        "tracker": ids.tracker_id,
        "brand": ids.brand_id,
        "store": ids.store_id if with_store else None,
        "labels": json.dumps(dict(wanted.labels)) if wanted.labels else None,
        IDEMPOTENCY_PART: state.idempotency_key or new_id(),
    }
    return [(name, value) for name, value in parts.items() if value]
