"""The table of rate limits: the number of requests or messages per time window.

A row expires an hour after its window ends.
"""

from datetime import UTC, datetime
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.errors import Unavailable
from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table, connection, time_of
from chalicelib.storage.dynamodb.unit_of_work import Rows

_RETENTION_AFTER_END_S: Final = 3600
_DAY_S: Final = 24 * 3600


class RateLimitRow(Table):
    """The table row with the number of requests in one time window."""

    class Meta:
        name = "rate-limits"

    key = UnicodeAttribute(hash_key=True)
    request_count = IntegerAttribute()
    expires_at = IntegerAttribute()


def count(key: str, ends_at: int, number: int = 1) -> tuple[int, datetime]:
    """Increase the request count of a time window. One request.

    Return the count and the time of DynamoDB's response, in full seconds.

    Args:
        key: the key of the window.
        ends_at: the end of the window in epoch seconds.
        number: the number of requests to count.

    Raises:
        Unavailable: the count could not be increased.
    """
    expires_at = ends_at + _RETENTION_AFTER_END_S
    # Every submission sends this request, so this function uses botocore directly: PynamoDB would
    # use 9% of the time budget of a submission.
    update = {
        "TableName": RateLimitRow.table_name(),
        "Key": {"key": {"S": key}},
        "UpdateExpression": "ADD request_count :number SET expires_at = :expires_at",
        "ExpressionAttributeValues": {
            ":number": {"N": str(number)},
            ":expires_at": {"N": str(expires_at)},
        },
        "ReturnValues": "UPDATED_NEW",
    }
    try:
        response = connection().dispatch("UpdateItem", update)
    except (ClientError, BotoCoreError) as error:
        raise Unavailable("The request count could not be increased.") from error
    return int(response["Attributes"]["request_count"]["N"]), time_of(response)


def text_key(account_id: str, now: datetime) -> str:
    """Return the key of the number of text messages that the account sends on this day (UTC)."""
    return f"texts/{account_id}/{day_of(now)}"


def day_of(now: datetime) -> str:
    """Return the day in UTC, in ISO 8601."""
    return now.astimezone(UTC).date().isoformat()


def reserve_text(write: Rows, account_id: str, limit: int, now: datetime) -> None:
    """Count a text message of this day in this transaction.

    The transaction fails if the limit is reached.
    """
    count = RateLimitRow.request_count
    ends_at = (int(now.timestamp()) // _DAY_S + 1) * _DAY_S
    write.update(
        RateLimitRow(text_key(account_id, now)),
        actions=[count.add(1), RateLimitRow.expires_at.set(ends_at + _RETENTION_AFTER_END_S)],
        condition=count.does_not_exist() | (count < limit),
    )
