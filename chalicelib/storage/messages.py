"""The table of sent messages by the provider's message id, which bounces and complaints contain."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from pynamodb.attributes import UnicodeAttribute

from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute
from chalicelib.storage.dynamodb.table import Key, Table, read_together

RETENTION: Final = timedelta(days=400)


class MessageRow(Table):
    """The table row of an e-mail or text message that the provider accepted.

    ``contact_key`` is the contact of the recipient's address.
    """

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


def find_message(message_id: str) -> MessageRow | None:
    """Load a message by the provider's id. Return None if it is unknown. One request."""
    return next(iter(find_many([message_id])), None)


def find_many(message_ids: Collection[str]) -> list[MessageRow]:
    """Load messages by id. Omit missing messages. One consistent request per 100 messages."""
    rows = read_together(*(Key(MessageRow, message_id) for message_id in message_ids))
    return [row for row in rows if row]
