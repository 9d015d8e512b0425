"""The context of a survey: store, brand, purchase and channel."""

from dataclasses import dataclass

from chalicelib.domain.accounts.places import Directory, Place
from chalicelib.domain.forms.survey import Channel
from chalicelib.domain.solicitation.tracker import Tracker


@dataclass(frozen=True)
class SurveyContext:
    """The context in which a survey is shown or submitted.

    Attributes:
        store: the store that the survey is about, None if unknown.
        brand: the store's brand, or the brand that the survey is about; None if unknown.
        order: the external id of the purchase, ``""`` without a purchase.
        send_mode: the channel that the survey was sent on.
        tracker: None for a survey without a tracker.
    """

    store: Place | None = None
    brand: Place | None = None
    order: str = ""
    send_mode: Channel = Channel.LINK
    tracker: Tracker | None = None

    @classmethod
    def at(
        cls,
        directory: Directory,
        *,
        store_id: str | None = None,
        brand_id: str | None = None,
        order: str = "",
        send_mode: Channel = Channel.LINK,
        tracker: Tracker | None = None,
    ) -> "SurveyContext":
        """Return the context for a store or a brand.

        The brand of the store takes precedence over ``brand_id``. A store or a brand that the
        directory does not contain is left out; the caller validates them.
        """
        store = directory.store(store_id) if store_id else None
        brand_id = store.brand_id if store else brand_id
        brand = directory.brand(brand_id) if brand_id else None
        return cls(store, brand, order, send_mode, tracker)

    @classmethod
    def of_tracker(cls, directory: Directory, tracker: Tracker, order: str = "") -> "SurveyContext":
        """Return the context that the tracker defines."""
        return cls.at(
            directory,
            store_id=tracker.store_id,
            order=order,
            send_mode=Channel(tracker.send_mode),
            tracker=tracker,
        )

    @property
    def store_id(self) -> str | None:
        """The tracker's store, even if the directory does not contain it; else the store."""
        if self.tracker:
            return self.tracker.store_id
        return self.store.id if self.store else None
