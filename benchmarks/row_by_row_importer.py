"""Import customers row by row with plain boto3 and one table, as a baseline for the benchmark.

For each row, the importer looks up the customer with the row's pair of e-mail address and phone
number, then creates or updates the customer. It validates nothing and stores neither list
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
    """Import the rows.

    A row whose pair belongs to a customer fills the unset fields of this customer.
    """
    for row in rows:
        pair = pair_of(row.get("email"), row.get("phoneNumber"))
        key = f"{account_id}#{pair.digest}" if pair else None
        customer_id = _find(dynamodb, key) if key else None
        if customer_id:
            _fill(dynamodb, customer_id, row)
        else:
            _put(dynamodb, account_id, key, row)


def _find(dynamodb: Any, key: str) -> str | None:
    items = dynamodb.query(
        TableName=TABLE,
        IndexName=_INDEX,
        KeyConditionExpression="pair = :pair",
        ExpressionAttributeValues={":pair": {"S": key}},
        Limit=1,
    )["Items"]
    return str(items[0]["id"]["S"]) if items else None


def _fill(dynamodb: Any, customer_id: str, row: dict[str, Any]) -> None:
    fields = list(enumerate(row.items()))
    dynamodb.update_item(
        TableName=TABLE,
        Key={"id": {"S": customer_id}},
        UpdateExpression="SET updatedAt = :now, "
        + ", ".join(f"#{n} = if_not_exists(#{n}, :{n})" for n, _ in fields),
        ExpressionAttributeNames={f"#{n}": name for n, (name, _) in fields},
        ExpressionAttributeValues={":now": {"S": format_timestamp(now())}}
        | {f":{n}": _serialize(value) for n, (_, value) in fields},
    )


def _put(dynamodb: Any, account_id: str, key: str | None, row: dict[str, Any]) -> None:
    created_at = format_timestamp(now())
    customer = row | {
        "id": new_id(),
        "accountId": account_id,
        "createdAt": created_at,
        "updatedAt": created_at,
    }
    if key:
        customer["pair"] = key
    dynamodb.put_item(
        TableName=TABLE, Item={name: _serialize(value) for name, value in customer.items()}
    )
