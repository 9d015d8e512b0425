"""The invitation that asks a customer to answer a survey about a purchase."""

from dataclasses import dataclass

from chalicelib.domain.accounts.places import Place
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel


@dataclass(frozen=True)
class SurveyInvitation:
    """The data from which one invitation is rendered and sent.

    Attributes:
        store: the store of the purchase; None if it no longer exists.
        brand: the brand of the store; None if it no longer exists.
        tracker_id: the tracker that the survey link contains.
    """

    account_id: str
    solicitation_id: str
    channel: Channel
    survey: SavedSurvey
    customer: Customer
    store: Place | None
    brand: Place | None
    purchase: Purchase
    tracker_id: str

    @property
    def place_name(self) -> str:
        """The name of the brand or, without a brand, of the store. ``""`` if neither exists."""
        place = self.brand or self.store
        return place.name if place else ""
