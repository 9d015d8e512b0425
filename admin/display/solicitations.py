"""Display the outcomes of solicitations."""

from collections.abc import Iterable
from typing import Final

from admin.terminal import show_table
from chalicelib.domain.solicitation.solicitation import Solicitation

_SHOWN: Final = ("Source", "External id", "State", "Reason", "Channel", "Sent at")
_WIDE: Final = ("Customer id", "Survey id", "Tracker id", "Held until", "Reminded at")


def solicitation_record(s: Solicitation) -> dict[str, object]:
    """Return the outcome of a solicitation by the titles of its columns."""
    reason = s.reason or None
    shown = (s.source, s.external_id, s.state.value, reason, s.channel, s.sent_at)
    wide = (s.customer_id, s.survey_id, s.tracker_id, s.held_until, s.reminded_at)
    return dict(zip([*_SHOWN, *_WIDE], [*shown, *wide], strict=True))


def show_solicitations(found: Iterable[Solicitation]) -> None:
    """Print one row for each solicitation."""
    rows = [[*solicitation_record(each).values()] for each in found]
    show_table([*_SHOWN, *_WIDE], rows, _WIDE)
