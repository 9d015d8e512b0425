"""The table of sent messages by the provider's message id, which bounces and complaints contain."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.solicitation.channel import Channel
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute
from chalicelib.storage.dynamodb.table import Key, Table, fields_of, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows

_RETENTION: Final = timedelta(days=400)


class MessageRow(Table):
    """The table row of an e-mail or text message that was sent to a customer."""

    class Meta:
        name = "messages"

    message_id = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    solicitation_id = UnicodeAttribute()
    customer_id = UnicodeAttribute()
    channel = UnicodeAttribute()
    contact_key = UnicodeAttribute()
    sent_at = TimestampAttribute()
    expires_at = IntegerAttribute()


@dataclass(frozen=True)
class SentMessage:
    """A message that the provider accepted.

    Attributes:
        message_id: the provider's id.
        contact_key: the contact of the recipient's address.
    """

    message_id: str
    account_id: str
    solicitation_id: str
    customer_id: str
    channel: Channel
    contact_key: str
    sent_at: datetime


def find_message(message_id: str) -> SentMessage | None:
    """Load a message by the provider's id. Return None if it is unknown. One request."""
    return next(iter(find_many([message_id])), None)


def find_many(message_ids: Collection[str]) -> list[SentMessage]:
    """Load messages by id. Omit missing messages. One consistent request per 100 messages."""
    rows = read_together(*(Key(MessageRow, message_id) for message_id in message_ids))
    return [
        SentMessage(**fields_of(row, SentMessage) | {"channel": Channel(row.channel)})
        for row in rows
        if row
    ]


def add(write: Rows, message: SentMessage) -> None:
    """Add a message in this transaction."""
    row = Key(MessageRow, message.message_id).row()
    row.account_id, row.solicitation_id = message.account_id, message.solicitation_id
    row.customer_id, row.contact_key = message.customer_id, message.contact_key
    row.channel, row.sent_at = message.channel, message.sent_at
    row.expires_at = int((message.sent_at + _RETENTION).timestamp())
    write.save(row)
