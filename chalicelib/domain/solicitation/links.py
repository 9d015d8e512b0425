"""Build the links of invitations and posters, and parse short links when they are opened.

No GET request for these links changes anything, because mail scanners open every link.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote, urlencode
from uuid import UUID

from chalicelib.domain.solicitation.tokens import UnsubscribeToken

DEFAULT_SURVEY_LINK: Final = "{base_url}/public/survey/page?survey={survey}&tracker={tracker}"
"""The template of links to the survey page of the service."""

ANSWER_PREFIX: Final = "a."
"""The prefix of the answers that a link to a page preselects: ``a.nps=9``."""

LABEL_PREFIX: Final = "l."
"""The prefix of labels in a link to a page: ``l.table=12``."""

# The last character encodes two bits, so only four of the 64 characters are canonical.
_SHORT_ID: Final = "[A-Za-z0-9_-]{21}[AQgw]"
_SHORT_TRACKER: Final = re.compile(_SHORT_ID)
_SHORT_FORM: Final = re.compile(f"([cs])({_SHORT_ID})({_SHORT_ID})?")
_FORM_PAGES: Final = {"c": "contact-form/page?id=", "s": "survey/page?survey="}


def survey_link(template: str, *, base_url: str, survey_id: str, tracker_id: str) -> str:
    """Return the link to the page on which the customer answers the survey.

    Args:
        template: a URL with the placeholders ``{survey}`` and ``{tracker}``, and optionally
            ``{base_url}``.
    """
    return (
        template.replace("{base_url}", base_url)
        .replace("{survey}", quote(survey_id, safe=""))
        .replace("{tracker}", quote(tracker_id, safe=""))
    )


def with_parameters(link: str, prefix: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """Return the link to the page of a form with answers or labels by name."""
    if not values:
        return link
    page, hash_sign, fragment = link.partition("#")
    separator = "&" if "?" in page else "?"
    query = urlencode({prefix + name: value for name, value in values.items()}, doseq=True)
    return f"{page}{separator}{query}{hash_sign}{fragment}"


def with_answers(link: str, key: str, answers: Iterable[str]) -> list[str]:
    """Return the link to the page of a survey with each of these answers to a question."""
    return [with_parameters(link, ANSWER_PREFIX, {key: answer}) for answer in answers]


def short_link(base_url: str, tracker_id: str) -> str:
    """Return the short link to the survey page of the service, for text messages."""
    return f"{base_url}/s/{short_tracker(tracker_id)}"


def unsubscribe_link(base_url: str, token: UnsubscribeToken, secret: bytes) -> str:
    """Return the link that opens the unsubscribe page. A POST request to the link unsubscribes."""
    return f"{base_url}/public/unsubscribe?token={token.signed(secret)}"


def short_form_link(base_url: str, form_id: str, store_id: str | None, *, is_survey: bool) -> str:
    """Return the short link to the page of a form, for posters and QR codes."""
    ids = short_tracker(form_id) + (short_tracker(store_id) if store_id else "")
    return f"{base_url}/s/{'s' if is_survey else 'c'}{ids}"


def page_of_short_link(code: str) -> str | None:
    """Return the page that a short link opens, relative to ``/public/``.

    Args:
        code: the end of the link. If it is invalid, the result is None.
    """
    if tracker_id := parse_short_tracker(code):
        return f"survey/page?tracker={tracker_id}"
    match = _SHORT_FORM.fullmatch(code)
    if match is None:
        return None
    kind, form_id, store_id = match.groups()
    page = _FORM_PAGES[kind] + str(parse_short_tracker(form_id))
    return page + (f"&store={parse_short_tracker(store_id)}" if store_id else "")


def short_tracker(tracker_id: str) -> str:
    """Return an id, such as that of a tracker, as 22 base64url characters."""
    return urlsafe_b64encode(UUID(tracker_id).bytes).decode().rstrip("=")


def parse_short_tracker(text: str) -> str | None:
    """Return the tracker id that `short_tracker` encoded, or None if the text is invalid."""
    if not _SHORT_TRACKER.fullmatch(text):
        return None
    return str(UUID(bytes=urlsafe_b64decode(text + "==")))
