"""Find a tracker."""

from chalicelib.domain.solicitation.tracker import Tracker
from chalicelib.storage import trackers


def find_tracker(tracker_id: str) -> Tracker | None:
    """Return the tracker with this id, or None. One request to AWS."""
    return trackers.find(tracker_id)
