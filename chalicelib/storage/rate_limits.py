"""The table of rate limits: the number of requests per time window.

A row expires an hour after its window ends.
"""

from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.errors import Unavailable
from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table, connection

_RETENTION_AFTER_END_S: Final = 3600


class RateLimitRow(Table):
    """The table row with the number of requests in one time window."""

    class Meta:
        name = "rate-limits"

    key = UnicodeAttribute(hash_key=True)
    request_count = IntegerAttribute()
    expires_at = IntegerAttribute()


def count(key: str, ends_at: int) -> int:
    """Increment the request count of a time window and return it. One request.

    Args:
        key: the key of the window.
        ends_at: the end of the window in epoch seconds.

    Raises:
        Unavailable: the count could not be incremented.
    """
    expires_at = ends_at + _RETENTION_AFTER_END_S
    # Every submission sends this request, so this function uses botocore directly: PynamoDB would
    # use 9% of the time budget of a submission.
    update = {
        "TableName": RateLimitRow.table_name(),
        "Key": {"key": {"S": key}},
        "UpdateExpression": "ADD request_count :one SET expires_at = :expires_at",
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":expires_at": {"N": str(expires_at)}},
        "ReturnValues": "UPDATED_NEW",
    }
    try:
        response = connection().dispatch("UpdateItem", update)
    except (ClientError, BotoCoreError) as error:
        raise Unavailable("The request count could not be incremented.") from error
    return int(response["Attributes"]["request_count"]["N"])
