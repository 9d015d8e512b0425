"""Saved taps: ratings and choices that a respondent has tapped in a survey and not sent.

A saved tap is a feedback record that its respondent can still change, or replace by sending the
survey. It becomes partial feedback some hours after the first save.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from chalicelib.domain.forms.tracker import Save

SAVED_FOR: Final = timedelta(hours=4)
"""The time after the first save at which saved taps become feedback."""

MAX_SAVES: Final = 30
"""The maximum number of saves of a tracker. Later ones have no effect."""

SCANNED_VIEWS: Final = 3
"""The number of page views with different ratings from which no person has tapped.

Scanners of mail open every link of a scale, and some tap on the pages.
"""


def is_accepted(saves: Sequence[Save], new: Save) -> bool:
    """Return whether a save can change what is saved."""
    overtaken = any(new.view == each.view and new.sequence < each.sequence for each in saves)
    return len(saves) < MAX_SAVES and not is_scanned(saves) and not overtaken


def is_scanned(saves: Sequence[Save]) -> bool:
    """Return whether a scanner has sent the saves."""
    last = {save.view: save.rating for save in saves}
    return len({rating for rating in last.values() if rating is not None}) >= SCANNED_VIEWS
