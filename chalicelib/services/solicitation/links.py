"""Build the links of this stage with which customers answer surveys."""

from chalicelib.domain.solicitation.links import DEFAULT_SURVEY_LINK, short_link, survey_link
from chalicelib.settings import settings
from chalicelib.storage.stage_values import public_base_url


def survey_links(survey_id: str, tracker_id: str) -> tuple[str, str]:
    """Return the link to the page of a survey, and the shortest link to this page.

    Both are the same if the stage has a template. No AWS request if its base URL is cached.
    """
    template, base_url = settings().survey_link_template, public_base_url()
    page = survey_link(
        template or DEFAULT_SURVEY_LINK,
        base_url=base_url,
        survey_id=survey_id,
        tracker_id=tracker_id,
    )
    return page, page if template else short_link(base_url, tracker_id)


def shortest_link(survey_id: str, tracker_id: str) -> str:
    """Return the shortest link to the page of a survey."""
    return survey_links(survey_id, tracker_id)[1]
