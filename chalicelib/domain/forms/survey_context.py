"""The context of a form: store, brand, purchase and channel.

The context determines the line about the visit, the review page and the redirect to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.forms.survey import SavedSurvey, SendMode, Target
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.language import Language, format_date, is_right_to_left
from chalicelib.domain.plain_text import plain_name


@dataclass(frozen=True)
class SurveyContext:
    """The context in which a survey is shown or submitted.

    Attributes:
        store: the store that the survey is about; None if unknown.
        brand: the store's brand, or the brand that the survey is about; None if unknown.
        order: the external id of the purchase; ``""`` if there is no purchase.
        send_mode: the channel through which the survey was sent.
        tracker: the tracker of the survey link; None if there is none.
        target: the survey's enabled target, if there is only one and the request has no tracker, no
            store and no brand; otherwise None.
        visited_on: the date of the purchase in the time zone of the store; None if there is no
            purchase.
        first_name: the customer's first name, as saved; ``""`` if unknown.
    """

    store: Place | None = None
    brand: Place | None = None
    order: str = ""
    send_mode: SendMode = SendMode.LINK
    tracker: Tracker | None = None
    target: Target | None = None
    visited_on: date | None = None
    first_name: str = ""

    @classmethod
    def at(
        cls,
        directory: Directory,
        *,
        store_id: str | None = None,
        brand_id: str | None = None,
        tracker: Tracker | None = None,
    ) -> "SurveyContext":
        """Create the context for a store or a brand.

        The brand of the store takes precedence over ``brand_id``. An unknown store or brand is
        ignored; the caller validates both.
        """
        store = directory.store(store_id) if store_id else None
        brand_id = store.brand_id if store else brand_id
        brand = directory.brand(brand_id) if brand_id else None
        send_mode = SendMode(tracker.send_mode) if tracker else SendMode.LINK
        return cls(store, brand, send_mode=send_mode, tracker=tracker)

    @classmethod
    def of_request(
        cls,
        survey: SavedSurvey,
        directory: Directory,
        *,
        store_id: str | None = None,
        brand_id: str | None = None,
    ) -> "SurveyContext":
        """Create the context of a request without a tracker.

        If the request names neither a store nor a brand, and the survey has exactly one enabled
        target, the target determines the brand.
        """
        targets = [target for target in survey.targets if target.enabled]
        if store_id or brand_id or len(targets) != 1:
            return cls.at(directory, store_id=store_id, brand_id=brand_id)
        (target,) = targets
        if target.type is PlaceKind.STORE:
            context = cls.at(directory, store_id=target.target_id)
        else:
            context = cls.at(directory, brand_id=target.target_id)
        return replace(context, store=None, target=target)

    @classmethod
    def of_tracker(cls, directory: Directory, tracker: Tracker) -> "SurveyContext":
        """Create the context of a tracker with the tracker's store and channel."""
        return cls.at(directory, store_id=tracker.store_id, tracker=tracker)

    def names(self, language: Language) -> Mapping[str, str]:
        """Return the values of the placeholders in the form's texts; see `placeholders`."""
        brand = self.brand.name if self.brand else ""
        return {
            "store": self.store.name if self.store else brand,
            "brand": brand,
            "date": self.visit_date(language),
            "firstName": plain_name(self.first_name),
        }

    def visit_date(self, language: Language) -> str:
        """Return the date of the purchase in this language; ``""`` if there is no purchase."""
        return format_date(self.visited_on, language) if self.visited_on else ""

    @property
    def store_id(self) -> str | None:
        """The id of the store that the survey is about, or None.

        If there is a tracker, this is the tracker's store id, even if that store no longer exists.
        """
        if self.tracker:
            return self.tracker.store_id
        return self.store.id if self.store else None


def visit_line(context: SurveyContext, language: Language, title: str) -> str:
    """Return the store and the date of a visit, except what the title contains already.

    A no-break space precedes the dot between them, so that no line starts with the dot. In a
    right-to-left language, Unicode isolates keep the order of the parts.
    """
    names = (context.store.name if context.store else "", context.visit_date(language))
    shown = [name for name in names if name and name not in title]
    if is_right_to_left(language):
        shown = [f"\u2068{name}\u2069" for name in shown]
    return "\u00a0· ".join(shown)


def external_url(survey: SavedSurvey, context: SurveyContext) -> str:
    """Return the URL of the survey's review page for the store or, without one, for the brand.

    Only enabled targets have a review page. If the request names no store and no brand, the context
    contains the survey's only target. Return ``""`` if no target matches.
    """
    if context.target:
        return context.target.new_review_uri
    for kind, place in ((PlaceKind.STORE, context.store), (PlaceKind.BRAND, context.brand)):
        for target in survey.targets:
            if place and target.enabled and target.type is kind and target.target_id == place.id:
                return target.new_review_uri
    return ""


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
