"""Compute the size and the price of the text message about a purchase."""

from dataclasses import dataclass
from typing import Final

from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.decide import Decision, Send
from chalicelib.domain.solicitation.sms_segments import TextSize, size_of
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.solicitation.case import Case
from chalicelib.services.solicitation.invite import build_invitation
from chalicelib.services.solicitation.send_invitation import message_text

_ANY_TRACKER: Final = "00000000-0000-4000-8000-000000000000"
"""A tracker id for computing the size. The short links of all trackers have the same size."""


@dataclass(frozen=True)
class TextCost:
    """The size and the price of a text message.

    Attributes:
        segment_price: the price of a segment; None if the account has no such setting.
    """

    size: TextSize
    segment_price: float | None

    @property
    def price(self) -> float | None:
        """The price of the message; None if the price of a segment is unknown."""
        return None if self.segment_price is None else self.size.segments * self.segment_price


def text_cost(case: Case, decision: Decision) -> TextCost | None:
    """Return the cost of the text message that the decision sends, or None if there is none.

    One AWS request if the public base URL is not cached.

    Raises:
        Unavailable: the stage has no public base URL, or it cannot be read.
    """
    if not isinstance(decision, Send) or decision.channel is not Channel.SMS:
        return None
    invitation = build_invitation(case, decision.survey, decision.channel, _ANY_TRACKER)
    settings = account_settings(case.solicitation.account_id)
    return TextCost(size_of(message_text(invitation)), settings.sms_segment_price)
