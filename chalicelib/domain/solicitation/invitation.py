"""The invitation that asks a customer to answer a survey about a purchase."""

from dataclasses import dataclass
from datetime import date

from chalicelib.domain.accounts.places import Place
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.solicitation import Solicitation


@dataclass(frozen=True)
class SurveyInvitation:
    """The data from which one invitation is rendered and sent.

    Attributes:
        solicitation: the claimed solicitation.
        contact_key: the contact of the recipient's address.
        store: the store of the purchase; None if it no longer exists.
        brand: the brand of the store; None if it no longer exists.
        tracker_id: the tracker that the survey link contains.
        visited_on: the date of the purchase in the time zone of the store.
    """

    solicitation: Solicitation
    channel: Channel
    contact_key: str
    survey: SavedSurvey
    customer: Customer
    store: Place | None
    brand: Place | None
    purchase: Purchase
    tracker_id: str
    visited_on: date

    @property
    def context(self) -> SurveyContext:
        """The context of the survey's texts."""
        return SurveyContext(
            store=self.store,
            brand=self.brand,
            visited_on=self.visited_on,
            first_name=self.customer.first_name or "",
        )

    @property
    def place_name(self) -> str:
        """The name of the brand or, without a brand, of the store. ``""`` if neither exists."""
        place = self.brand or self.store
        return place.name if place else ""
