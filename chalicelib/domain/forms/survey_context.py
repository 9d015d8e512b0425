"""On what occasion a survey is answered: where, after which purchase, and how it was sent."""

from dataclasses import dataclass

from chalicelib.domain.accounts.places import Directory, Place
from chalicelib.domain.forms.survey import Channel


@dataclass(frozen=True)
class SurveyContext:
    """What a tracker, or the one who asks, tells about the occasion.

    Attributes:
        store: the store that the survey is about, if it is known.
        brand: its brand, or the brand alone that the survey is about.
        order: the purchase's identifier in the system it came from, ``""`` without a purchase.
        send_mode: how the survey reached the one who answers.
    """

    store: Place | None = None
    brand: Place | None = None
    order: str = ""
    send_mode: Channel = Channel.LINK

    @classmethod
    def at(
        cls,
        directory: Directory,
        *,
        store_id: str | None = None,
        brand_id: str | None = None,
        order: str = "",
        send_mode: Channel = Channel.LINK,
    ) -> "SurveyContext":
        """The occasion at these places; a store's own brand goes before one named beside it.

        Whether the places are the account's is for the caller to judge: those that the directory
        does not know are left out.
        """
        store = directory.store(store_id) if store_id else None
        brand_id = store.brand_id if store else brand_id
        brand = directory.brand(brand_id) if brand_id else None
        return cls(store=store, brand=brand, order=order, send_mode=send_mode)
