"""Build the links of this stage with which customers answer surveys."""

from chalicelib.domain.solicitation.links import DEFAULT_SURVEY_LINK, short_link, survey_link
from chalicelib.settings import settings
from chalicelib.storage.stage_values import public_base_url


def page_link(survey_id: str, tracker_id: str) -> str:
    """Return the link to the page of a survey. No AWS request if the stage's base URL is cached."""
    return survey_link(
        settings().survey_link_template or DEFAULT_SURVEY_LINK,
        base_url=public_base_url(),
        survey_id=survey_id,
        tracker_id=tracker_id,
    )


def shortest_link(survey_id: str, tracker_id: str) -> str:
    """Return the short link to the page of a survey, or `page_link` if the stage has a template."""
    if settings().survey_link_template:
        return page_link(survey_id, tracker_id)
    return short_link(public_base_url(), tracker_id)
