"""Return the page that reports why a form cannot be displayed or submitted."""

from chalice import Response

from chalicelib.domain.errors import FeedbackError
from chalicelib.domain.forms.access import FormClosed, TrackerRequired, TrackerUsed
from chalicelib.services.forms.cached_forms import Respondent
from chalicelib.services.forms.pages import get_closed_form
from chalicelib.web.pages.html import page_response
from chalicelib.web.pages.words import page_language, page_words
from chalicelib.web.problems import retry_headers, status_of


def error_page(
    respondent: Respondent, error: FeedbackError | None, *, is_framed: bool = True
) -> Response:
    """Return the page for an error in the respondent's language.

    The page of a form that is closed for the respondent, or needs a tracker, has the style and the
    language of the form.

    Args:
        error: the domain error; None for an unhandled exception.
        is_framed: whether the page is displayed in frames.
    """
    form = None
    if isinstance(error, FormClosed | TrackerRequired):
        form = get_closed_form(error.form, respondent)
    requested = respondent.language, respondent.accept_language
    language = form.language if form else page_language(*requested)
    failures = page_words(language).failures
    title, text = failures.get(error.code if error else "", failures["error"])
    return page_response(
        "error.html",
        language,
        form,
        status_of(error),
        retry_headers(error),
        is_framed=is_framed,
        is_answered=isinstance(error, TrackerUsed),
        title=title,
        text=text,
    )
