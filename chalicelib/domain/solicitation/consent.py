"""The consent of addresses, as partners see it."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from pydantic import Field

from chalicelib.domain.errors import InvalidCursor
from chalicelib.domain.list_cursor import CursorRequest, CursorText, read_cursor, write_cursor
from chalicelib.domain.schema import (
    Choice,
    Resource,
    Timestamp,
    UuidText,
    format_timestamp,
    parse_timestamp,
)
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason

REMOVED_RETENTION: Final = timedelta(days=90)
"""The time after which the list no longer names an erased customer."""

_OVERLAP: Final = timedelta(minutes=15)
"""How far the list goes back after its end: longer than the delay of an index, a transaction that
is throttled, and the difference between the clocks of two processes together.
"""

_BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
_KEY: Final = re.compile("[0-9a-f]{64}|")
_SCOPE: Final = "consent"


class ConsentReason(Choice):
    """Why an address receives no messages."""

    UNSUBSCRIBED = "UNSUBSCRIBED"
    COMPLAINT = "COMPLAINT"
    BOUNCED = "BOUNCED"
    OPTED_OUT = "OPTED_OUT"
    NO_CONSENT = "NO_CONSENT"
    NO_CHANNEL = "NO_CHANNEL"
    COUNTRY = "COUNTRY"


class ConsentPosition(NamedTuple):
    """A position in the list of changes.

    Attributes:
        resume_at: the time from which the list is read again after its end. Later changes may have
            been missing from the index when the list was read.
        at: the time of the first change of the page.
        key: the key of the last contact of the preceding page; ``""`` to start at the time.
    """

    resume_at: datetime
    at: datetime
    key: str = ""


class ConsentListRequest(CursorRequest):
    """The requested page of the list of changes."""

    def start(self, now: datetime) -> ConsentPosition:
        """Return the position at which this page starts.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        if self.cursor is None:
            return ConsentPosition(now - _OVERLAP, _BEGINNING)
        resume_text, text, key = read_cursor(self.cursor, _SCOPE, str, str, str)
        at, resume_at = parse_timestamp(text), parse_timestamp(resume_text or text)
        if at is None or resume_at is None or not _KEY.fullmatch(key):
            raise InvalidCursor
        return ConsentPosition(resume_at if resume_text else now - _OVERLAP, at, key)


def cursor_after(start: ConsentPosition, last: tuple[datetime, str] | None) -> str:
    """Return the cursor after a page.

    Args:
        start: the position of the page.
        last: the time and the key of the last change of the page; None if the list ends with it.
    """
    resume_at = format_timestamp(start.resume_at)
    if last is None:
        return write_cursor(("", resume_at, ""), _SCOPE)
    return write_cursor((resume_at, format_timestamp(last[0]), last[1]), _SCOPE)


class AddressConsent(Resource):
    """What the service has learned about an address."""

    channel: Channel = Field(
        description="`EMAIL` for an e-mail address, `SMS` for a phone number.", examples=["EMAIL"]
    )
    address: str = Field(
        description="The address, as in the customer.", examples=["lou.blanc@example.com"]
    )
    reason: ConsentReason | None = Field(
        description="Why it receives no messages: `UNSUBSCRIBED`, `COMPLAINT` or `BOUNCED`, or"
        " `OPTED_OUT` for a wish that you or the operator recorded; `null` if there is no reason,"
        " for example because the operator lifted it.",
        examples=["UNSUBSCRIBED"],
    )
    since: Timestamp | None = Field(
        description="Time of the unsubscription, the complaint or the bounce; `null` otherwise."
    )


class CustomerConsent(Resource):
    """A customer for whose addresses the service has learned something, or who was erased."""

    customer_id: UuidText = Field(description="Identifier of the customer.")
    changed_at: Timestamp = Field(description="Time of the last change.")
    removed: bool = Field(
        description="Whether the customer was erased: remove the customer from your copy.",
        examples=[False],
    )
    addresses: tuple[AddressConsent, ...] = Field(
        description="The addresses about which the service has learned something, and which the"
        " customer still has."
    )


class ConsentMeta(Resource):
    """The position of a page in the list of changes."""

    item_count: int = Field(description="Number of customers on this page.", examples=[1])
    cursor: CursorText = Field(
        description="Position after this page. Keep it, and send it with the next request.",
        examples=["WyIiLCAiMjAyNi0xMS0yOFQwNTowMDowMC4wMDBaIiwgIiIsICI5ZjIzIl0="],
    )
    has_more: bool = Field(
        description="Whether more changes are known. Otherwise, ask again later."
    )


class ConsentList(Resource):
    """A page of the list of changes."""

    items: tuple[CustomerConsent, ...] = Field(
        description="The customers in their current state, in the order of their last change."
    )
    meta: ConsentMeta


class FoundConsent(Resource):
    """Whether an address receives messages."""

    channel: Channel = Field(description="The channel of the address.", examples=["EMAIL"])
    can_send: bool = Field(
        description="Whether the service may send messages to the address.", examples=[False]
    )
    reason: ConsentReason | None = Field(
        description="Why not: a reason of the list, `NO_CONSENT` (no customer with the address has"
        " the opt-in), `NO_CHANNEL` (no messages can be sent to such an address) or `COUNTRY` (no"
        " text messages to the country of the number); `null` if the service may send.",
        examples=["UNSUBSCRIBED"],
    )
    since: Timestamp | None = Field(
        description="Time of the unsubscription, the complaint or the bounce; `null` otherwise."
    )


def reason_of(contact: Contact, channel: Channel) -> tuple[ConsentReason | None, datetime | None]:
    """Return why a contact is suppressed, and since when.

    An erasure looks like an opt-out, without a time: a guessed address must not be confirmed as
    that of an erased person.
    """
    reason = contact.suppressed.get(channel)
    if reason in (SuppressionReason.ERASED, SuppressionReason.OPTED_OUT):
        return ConsentReason.OPTED_OUT, None
    return (ConsentReason(reason.value), contact.suppressed_at) if reason else (None, None)
