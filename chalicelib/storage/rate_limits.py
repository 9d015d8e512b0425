"""The table of rate limits: request counts per window, which expire after the window ends."""

from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.errors import Unavailable
from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Table, connection

_RETENTION_AFTER_END_S: Final = 3600


class RateLimitRow(Table):
    """The number of requests in one window."""

    class Meta:
        name = "rate-limits"

    key = UnicodeAttribute(hash_key=True)
    asked = IntegerAttribute()
    expires_at = IntegerAttribute()


def count(key: str, ends_at: int) -> int:
    """Increment the count of a window that ends at this epoch second, and return it. One request.

    Raises:
        Unavailable: the count could not be incremented.
    """
    expires_at = ends_at + _RETENTION_AFTER_END_S
    # Every submission sends this request. A model would cost 0.09 of the submit budget.
    update = {
        "TableName": RateLimitRow.table_name(),
        "Key": {"key": {"S": key}},
        "UpdateExpression": "ADD asked :one SET expires_at = :expires_at",
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":expires_at": {"N": str(expires_at)}},
        "ReturnValues": "UPDATED_NEW",
    }
    try:
        response = connection().dispatch("UpdateItem", update)
    except (ClientError, BotoCoreError) as error:
        raise Unavailable("The request count could not be incremented.") from error
    return int(response["Attributes"]["asked"]["N"])
