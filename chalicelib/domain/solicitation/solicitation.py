"""Solicitations: the request to send a customer one survey about one purchase.

A reminder of a survey that was sent is a work record of its own. Its solicitation has the customer,
survey, channel and tracker of the survey's solicitation, and its own state, claim and outcome.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.domain import work
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.solicitation.decide import LINKABLE_REASONS

INTERRUPTED = "the outcome of the attempt was not stored"

_REMINDER = "/reminder"
"""The end of the id of a reminder, after the id of the purchase."""


class SolicitationState(StrEnum):
    """State of a solicitation. All states except PENDING and PARKED are final outcomes."""

    PENDING = work.PENDING
    SENT = "SENT"
    SKIPPED = "SKIPPED"
    REJECTED = "REJECTED"
    UNKNOWN = "UNKNOWN"
    PARKED = work.PARKED


@dataclass(frozen=True)
class SolicitationPointer:
    """The content of a queue message for a solicitation.

    Attributes:
        customer_id: the customer of the purchase. With this id, the worker can read the
            solicitation, the purchase and the customer in one request.
    """

    account_id: str
    solicitation_id: str
    customer_id: str | None


@dataclass(frozen=True)
class Solicitation:
    """The request to send one survey about one purchase, and the outcome of the request.

    Attributes:
        id: the id of the purchase; for a reminder, see `reminder_id`.
        is_requested: whether a survey is requested. False for imports of old purchases.
        revision: increases whenever an update of the purchase makes a new decision necessary.
        claim_token: the fencing token of the last claim; ``""`` before the first claim.
        leased_until: the end of the claim's lease in epoch seconds; None if the solicitation is not
            claimed.
        processed_at: the time of the first decision.
        held_until: the time of the next decision, while the message is held.
        reason: why the survey was skipped, rejected, held or deferred.
        channel: how the survey reaches the customer; ``LINK`` if the partner delivers the link.
        text_day: the day (UTC) on which the last claim reserved a text message of the account's
            daily limit.
        message_id: the provider's id of the message.
        deferred_since: the time of the first deferral because the message could not be sent.
        reminded_at: the time at which the reminder was sent; None for the reminder itself.
        reminder_message_id: the provider's id of the reminder; None for the reminder itself.
        answered_on: the day (UTC) of the answer as its midnight, after an erasure has removed the
            tracker with its time. None without an answer, and before an erasure.
        cancelled_at: the time at which the partner cancelled the survey. Then, no message is sent
            any more.
        deferrals: how often the message was deferred because it could not be sent.
        counted_as: the key of the group in which the statistics count the survey as sent: while it
            is claimed, if it was sent, and if it may have been sent.
    """

    id: str
    account_id: str
    source: str
    external_id: str
    customer_id: str | None
    is_requested: bool
    created_at: datetime
    state: SolicitationState
    revision: int = 0
    claim_token: str = ""
    leased_until: int | None = None
    processed_at: datetime | None = None
    held_until: datetime | None = None
    reason: str = ""
    channel: SendMode | None = None
    survey_id: str | None = None
    tracker_id: str | None = None
    text_day: str | None = None
    message_id: str | None = None
    sent_at: datetime | None = None
    reminded_at: datetime | None = None
    reminder_message_id: str | None = None
    answered_on: datetime | None = None
    deferred_since: datetime | None = None
    cancelled_at: datetime | None = None
    deferrals: int = 0
    due_at: int | None = None
    counted_as: str | None = None

    @property
    def pointer(self) -> SolicitationPointer:
        """The content of a queue message for this solicitation."""
        return SolicitationPointer(self.account_id, self.id, self.customer_id)

    @property
    def is_reminder(self) -> bool:
        """Whether this is the reminder of a survey."""
        return self.id.endswith(_REMINDER)

    @property
    def purchase_id(self) -> str:
        """The id of the purchase, also of a reminder."""
        return purchase_id_of(self.id)

    @property
    def message_ids(self) -> list[str]:
        """The provider's ids of the message and of its reminder."""
        return [each for each in (self.message_id, self.reminder_message_id) if each]

    @property
    def is_open(self) -> bool:
        """Whether the solicitation is pending and no worker is sending its message."""
        return self.state is SolicitationState.PENDING and self.leased_until is None

    @property
    def can_be_linked(self) -> bool:
        """Whether the partner can still get a link: no message was sent or is being sent."""
        if self.outcome_is_final:
            return self.state is SolicitationState.SKIPPED and self.reason in LINKABLE_REASONS
        return self.leased_until is None

    @property
    def outcome_is_final(self) -> bool:
        """Whether the solicitation has an outcome. Only a link or an operator can replace it."""
        return self.state not in (SolicitationState.PENDING, SolicitationState.PARKED)


def reminder_id(purchase_id: str) -> str:
    """Return the id of the reminder of the survey about a purchase."""
    return purchase_id + _REMINDER


def purchase_id_of(solicitation_id: str) -> str:
    """Return the id of the purchase of a solicitation or a reminder."""
    return solicitation_id.removesuffix(_REMINDER)
