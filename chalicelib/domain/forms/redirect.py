"""Choose the review page of a survey and decide which respondents are redirected to it."""

from chalicelib.domain.accounts.places import PlaceKind
from chalicelib.domain.forms.survey import SavedSurvey, Target
from chalicelib.domain.forms.survey_context import SurveyContext


def matching_target(survey: SavedSurvey, context: SurveyContext) -> Target | None:
    """Return the survey's enabled target for the store or, if there is none, for the brand.

    If the request names no store and no brand, the context contains the survey's only target;
    return this target. Return None if no target matches.
    """
    if context.target:
        return context.target
    for kind, place in ((PlaceKind.STORE, context.store), (PlaceKind.BRAND, context.brand)):
        for target in survey.targets:
            if place and target.enabled and target.type is kind and target.target_id == place.id:
                return target
    return None


def external_url(survey: SavedSurvey, context: SurveyContext) -> str:
    """Return the URL of the review page of the `matching_target`, or ``""`` if there is none."""
    target = matching_target(survey, context)
    return target.new_review_uri if target else ""


def redirect_to(survey: SavedSurvey, context: SurveyContext, rating: int | None) -> str:
    """Return the URL to redirect the respondent to after submission, or ``""`` for no redirect.

    Args:
        rating: from 0 to 10; None if the submission has no rating.
    """
    if not survey.post_redirect or survey.post_redirect_threshold is None:
        return ""
    always = survey.post_redirect_threshold == 0
    if always or (rating is not None and rating >= survey.post_redirect_threshold):
        return external_url(survey, context)
    return ""
