"""Contacts: a customer record, an e-mail address or a phone number that receives surveys.

The service records sent surveys and suppressions for each contact, so two customer records with
the same address are one recipient. Contacts are identified by keyed hashes and contain no personal
data.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from chalicelib.domain.forms.survey import ResolicitationMode
from chalicelib.domain.solicitation.channel import Channel


class SuppressionReason(StrEnum):
    """Why a contact receives no more messages through a channel."""

    UNSUBSCRIBED = "UNSUBSCRIBED"
    COMPLAINT = "COMPLAINT"
    BOUNCED = "BOUNCED"
    ERASED = "ERASED"
    OPTED_OUT = "OPTED_OUT"
    """The partner reported that the person wants no messages. Only a partner's opt-in, or an
    operator, lifts this suppression."""


WEAK_REASONS: Final = (SuppressionReason.BOUNCED, SuppressionReason.OPTED_OUT)
"""The reasons that never replace another reason.

A bounce does not turn the opt-in off. A partner's opt-out must not hide who else said no.
"""


@dataclass(frozen=True)
class Solicited:
    """The last survey that a contact received in one scope.

    Attributes:
        at: the time of the claim, just before the message was sent.
        by: the id of the purchase that the survey was about.
    """

    at: datetime
    by: str


@dataclass(frozen=True)
class Contact:
    """The stored data of a contact: the last surveys and the suppressed channels.

    Attributes:
        key: the keyed hash that identifies the contact.
        revision: increases with every change; 0 if nothing is stored.
        solicited: the last survey in each scope; see `scopes_of`.
        suppressed: the reason by channel, for each channel that is suppressed.
        suppressed_at: the time of the suppression.
        complained_at: the time of the last complaint about a message.
        erased_at: the time of the last erasure of a customer with this address.
        lifted_at: the time at which an operator lifted the last suppression.
        lifted_by: the identity of this operator.
        changed_at: the time of the last change of a customer that partners can list.
        removed: whether this change is the erasure of the customer.
    """

    key: str
    revision: int = 0
    solicited: Mapping[str, Solicited] = field(default_factory=dict)
    suppressed: Mapping[Channel, SuppressionReason] = field(default_factory=dict)
    suppressed_at: datetime | None = None
    complained_at: datetime | None = None
    erased_at: datetime | None = None
    lifted_at: datetime | None = None
    lifted_by: str | None = None
    changed_at: datetime | None = None
    removed: bool = False


def suppressed_channels(contacts: Iterable[tuple[Channel, Contact]]) -> frozenset[Channel]:
    """Return the channels in which one of the contacts is suppressed.

    Args:
        contacts: each contact with the channel of its address.
    """
    return frozenset(channel for channel, contact in contacts if channel in contact.suppressed)


REMINDER_SCOPE: Final = "reminder"
"""The scope of reminders, in which no delay between two surveys applies."""


def scopes_of(store_id: str, brand_id: str | None, survey_id: str) -> dict[ResolicitationMode, str]:
    """Return the scope of a survey about this store, by resolicitation mode.

    Every message is recorded in the scopes of all modes, because the next survey can have another
    mode.
    """
    return {
        ResolicitationMode.ACCOUNT: "account",
        ResolicitationMode.BRAND: f"b:{brand_id or ''}",
        ResolicitationMode.STORE: f"s:{store_id}",
        ResolicitationMode.SURVEY: f"v:{survey_id}",
    }
