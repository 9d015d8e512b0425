"""Import customers row by row with plain boto3 and one table, as a baseline for the benchmark.

For each row, the importer looks up the customer with the row's pair of e-mail address and phone
number, and creates the customer if there is none. It validates nothing and stores neither list
positions nor progress. Two importers that run at the same time can create a customer twice.
"""

from collections.abc import Iterable
from typing import Any, Final

from boto3.dynamodb.types import TypeSerializer

from chalicelib.domain.clock import now
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp

TABLE: Final = "row-by-row-customers"
_INDEX: Final = "by_pair"

_serialize: Final = TypeSerializer().serialize


def create_table(dynamodb: Any) -> None:
    """Create the customer table with an index by pair, and wait until it is active."""
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "pair", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": _INDEX,
                "KeySchema": [{"AttributeName": "pair", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    dynamodb.get_waiter("table_exists").wait(TableName=TABLE)


def import_rows(dynamodb: Any, account_id: str, rows: Iterable[dict[str, Any]]) -> None:
    """Import the rows, except those whose pair belongs to a customer."""
    for row in rows:
        pair = pair_of(row["email"], row["phoneNumber"])
        assert pair
        key = f"{account_id}#{pair.digest}"
        found = dynamodb.query(
            TableName=TABLE,
            IndexName=_INDEX,
            KeyConditionExpression="pair = :pair",
            ExpressionAttributeValues={":pair": {"S": key}},
            Limit=1,
        )
        if found["Items"]:
            continue
        created_at = format_timestamp(now())
        customer = row | {
            "id": new_id(),
            "pair": key,
            "accountId": account_id,
            "createdAt": created_at,
            "updatedAt": created_at,
        }
        item = {name: _serialize(value) for name, value in customer.items()}
        dynamodb.put_item(TableName=TABLE, Item=item)
