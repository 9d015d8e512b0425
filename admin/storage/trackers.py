"""Read trackers for reports."""

from collections.abc import Collection

from chalicelib.storage.dynamodb.table import read_together
from chalicelib.storage.trackers import TrackerRow


def find_used(tracker_ids: Collection[str]) -> dict[str, bool]:
    """Return whether up to 100 trackers are used, by id. Omit missing trackers. One request."""
    rows = read_together(*((TrackerRow, tracker_id) for tracker_id in tracker_ids))
    return {row.tracker_id: row.used_at is not None for row in rows if row}
