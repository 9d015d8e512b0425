"""Erasures: the removal of a customer's data from all records, and the receipt of the removal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from pydantic.alias_generators import to_camel

from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.consent import REMOVED_RETENTION
from chalicelib.domain.work import WorkState

_REMAINING_COPIES: Final = (
    (
        "backups of the tables (point-in-time recovery, and those of a restore)",
        timedelta(days=35),
    ),
    ("webhook deliveries with tracker ids and excerpts of responses", timedelta(days=90)),
    ("messages in queues and dead-letter queues", timedelta(days=14)),
    ("log lines with ids", timedelta(days=30)),
    ("the id of the customer in the list of changed consents", REMOVED_RETENTION),
)
"""The copies that an erasure cannot remove, each with its retention period."""


class Erased(StrEnum):
    """The kinds of records that an erasure deletes or anonymizes."""

    CUSTOMERS = "customers"
    PURCHASES = "purchases"
    FEEDBACK = "feedback"
    SOLICITATIONS = "solicitations"
    TRACKERS = "trackers"
    MESSAGES = "messages"
    IMPORT_ROWS = "import_rows"


@dataclass(frozen=True)
class ErasurePointer:
    """The content of a queue message for an erasure, without the id of the customer."""

    account_id: str
    erasure_id: str


@dataclass(frozen=True)
class Erasure:
    """The erasure of a person.

    Attributes:
        id: a keyed hash of the account and the customer's id.
        customer_id: None after the erasure has ended.
        pair_digest: the digest of the customer's pair; None without a pair, or after the erasure
            has ended.
        next_holder: the id of the customer to which the pair passed; None until the erased customer
            is deleted.
        recreated: the ids of deleted customers that old feedback or an old import had created for
            the person; empty after the erasure has ended.
        pair_contact: the contact key of the pair; None without a pair.
        contacts: the contact key of the customer's address, by channel.
        others: the ids of other customers with one of the addresses; empty after the erasure has
            ended.
        other_count: the number of other customers with one of the addresses; up to 1,000 of each
            address are counted.
        erased_at: the time of the operator's request.
        last_found_at: the time at which a pass last erased records; None if none were found.
        counts: the number of erased records by kind.
        operator: the identity of the operator who requested the erasure.
    """

    id: str
    account_id: str
    erased_at: datetime
    customer_id: str | None
    operator: str
    pair_digest: str | None = None
    pair_contact: str | None = None
    next_holder: str | None = None
    recreated: frozenset[str] = frozenset()
    contacts: Mapping[Channel, str] = field(default_factory=dict)
    state: WorkState = WorkState.PENDING
    last_found_at: datetime | None = None
    ended_at: datetime | None = None
    counts: Mapping[Erased, int] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    other_count: int = 0

    @property
    def pointer(self) -> ErasurePointer:
        """The content of a queue message for this erasure."""
        return ErasurePointer(self.account_id, self.id)


def build_receipt(erasure: Erasure) -> dict[str, Any]:
    """Build the receipt of an erasure, with the remaining copies and the time of their expiry.

    The retention periods start at the end of the erasure. While the erasure is pending, the times
    of expiry are None.

    ``otherCustomers`` are customers with the same e-mail address or phone number, of which up to
    1,000 are counted for each address. They are separate records, which this erasure keeps. Their
    ids are listed until the erasure ends.
    """
    ended = erasure.ended_at
    return {
        "erasureId": erasure.id,
        "accountId": erasure.account_id,
        "state": erasure.state.value,
        "erasedAt": format_timestamp(erasure.erased_at),
        "requestedBy": erasure.operator,
        "endedAt": format_timestamp(ended) if ended else None,
        "erased": {to_camel(kind.value): erasure.counts.get(kind, 0) for kind in Erased},
        "otherCustomers": {"count": erasure.other_count, "ids": list(erasure.others)},
        "suppressedChannels": sorted(channel.value for channel in erasure.contacts),
        "remainingCopies": [
            {
                "copy": copy,
                "retentionDays": retention.days,
                "expiresAt": format_timestamp(ended + retention) if ended else None,
            }
            for copy, retention in _REMAINING_COPIES
        ],
    }
