"""The form that a page displays: its kind and ids, from the query or from a submission."""

from dataclasses import dataclass, replace

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.forms.labels import allowed_labels
from chalicelib.domain.solicitation.links import LABEL_PREFIX
from chalicelib.services.forms.cached_forms import Respondent, reject_private_survey
from chalicelib.services.forms.pages import display_contact_form, display_survey
from chalicelib.services.forms.public import DisplayedForm, FormIds
from chalicelib.web import query
from chalicelib.web.pages.html import View
from chalicelib.web.pages.pre_redirect import FORM, STEP
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.submission_body import PostedForm
from chalicelib.web.query import query_errors


@dataclass(frozen=True)
class FormRequest:
    """A request for the page of a contact form or a survey.

    Attributes:
        has_fixed_store: whether the link to the page contains the store. Otherwise, the respondent
            can select a store.
        labels: the labels of the link, sorted by name.
        is_offered: whether the respondent was offered a review before the form.
    """

    is_survey: bool
    ids: FormIds
    has_fixed_store: bool = False
    labels: tuple[tuple[str, str], ...] = ()
    is_offered: bool = False

    @classmethod
    def of_query(cls, request: PublicRequest, *, is_survey: bool) -> "FormRequest":
        """Read the request from the query parameters. A tracker alone requests its survey.

        Raises:
            InvalidInput: the form's id is missing, or an id is not a UUID.
        """
        is_tracker = query.text(request.http, "tracker") and not query.text(request.http, "survey")
        if is_survey and is_tracker:
            ids = FormIds(None, query.identifier(request.http, "tracker"))
        else:
            ids = form_ids(request, is_survey=is_survey)
        return cls(is_survey, ids, *_of_link(request))

    @classmethod
    def of_submission(cls, request: PublicRequest, posted: PostedForm) -> "FormRequest":
        """Read the request from a submission. Ignore ids that are not UUIDs."""
        tracker, store, brand = map(posted.identifier, ("tracker", "store", "brand"))
        ids = FormIds(posted.form_id, tracker, store, brand)
        return cls(posted.is_survey, ids, *_of_link(request))

    def display(self, respondent: Respondent) -> tuple["FormRequest", DisplayedForm[View]]:
        """Return the form, and the request with only the labels that the form declares and allows.

        Raises:
            FeedbackError: see `display_contact_form` and `display_survey`.
        """
        form: DisplayedForm[View]
        with query_errors():
            if self.is_survey:
                form = display_survey(self.ids, respondent)
            else:
                form = display_contact_form(self.ids, respondent)
        labels = allowed_labels(form.cached.saved.labels, dict(self.labels))
        return replace(self, labels=tuple(labels.items())), form


def _of_link(request: PublicRequest) -> tuple[bool, tuple[tuple[str, str], ...], bool]:
    """Return the attributes of a request that follow its ids: those in the query."""
    labels = {name: values[-1] for name, values in query.texts(request.http, LABEL_PREFIX).items()}
    has_fixed_store = query.text(request.http, "store") is not None
    is_offered = query.text(request.http, STEP) == FORM
    return has_fixed_store, tuple(sorted(labels.items())), is_offered


def form_ids(request: PublicRequest, *, is_survey: bool) -> FormIds:
    """Return the ids of the requested form, its store and its brand, and a survey's tracker.

    Raises:
        InvalidInput: the form's id is missing, or an id is not a UUID.
        TrackerRequired: the survey is private, and the request has invalid parameters and no
            tracker.
    """
    name, tracker = ("survey", ["tracker"]) if is_survey else ("id", [])
    ids, errors = query.identifiers(request.http, name, *tracker, "store", "brand")
    if errors:
        if is_survey and not query.text(request.http, "tracker"):
            reject_private_survey(ids.get(name, ""))
        raise InvalidInput(errors)
    return FormIds(ids[name], ids.get("tracker"), ids.get("store"), ids.get("brand"))
