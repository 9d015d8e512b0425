"""Where respondents may leave a public review, and who is led there after submitting."""

from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.forms.survey import SavedSurvey, Target
from chalicelib.domain.forms.survey_context import SurveyContext


def matching_target(survey: SavedSurvey, context: SurveyContext) -> Target | None:
    """The enabled target that the occasion is about: its store, else its brand, else none."""
    for kind, place in ((PlaceKind.STORE, context.store), (PlaceKind.BRAND, context.brand)):
        for target in survey.targets:
            if place and target.enabled and target.type is kind and target.target_id == place.id:
                return target
    return None


def external_url(survey: SavedSurvey, context: SurveyContext) -> str:
    """The review page of the matching target, ``""`` when there is none."""
    target = matching_target(survey, context)
    return target.new_review_uri if target else ""


def redirect_to(survey: SavedSurvey, context: SurveyContext, rating: int | None) -> str:
    """The review page that a respondent is led to after submitting, ``""`` for none.

    Args:
        rating: what was answered, brought to 0 to 10; None when nothing was rated.
    """
    if not survey.post_redirect or survey.post_redirect_threshold is None:
        return ""
    always = survey.post_redirect_threshold == 0
    if always or (rating is not None and rating >= survey.post_redirect_threshold):
        return external_url(survey, context)
    return ""
