"""Find a tracker."""

from chalicelib.domain.forms.tracker import Tracker
from chalicelib.storage import trackers


def find_tracker(tracker_id: str) -> Tracker | None:
    """Return the tracker with this id, or None if it does not exist. One AWS request."""
    return trackers.find(tracker_id)
