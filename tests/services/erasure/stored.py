"""Read all tables and queues of the test's stage as text."""

import json
import zlib
from collections.abc import Iterator
from typing import Any

import boto3


def stored_texts(account_id: str) -> list[str]:
    """Return the texts of all table rows that contain the account id."""
    return [text for _, text in table_texts(boto3.client("dynamodb")) if account_id in text]


def table_texts(dynamodb: Any) -> Iterator[tuple[str, str]]:
    """Yield the table and the text of each row. Compressed attributes are decompressed."""
    for table in dynamodb.list_tables()["TableNames"]:
        for page in dynamodb.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                yield table, json.dumps(item, default=_text, ensure_ascii=False)


def queue_texts() -> Iterator[tuple[str, str]]:
    """Yield the queue and the body of each message, including dead letters. Remove the messages."""
    sqs = boto3.client("sqs")
    for url in sqs.list_queues().get("QueueUrls", []):
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                yield url.rsplit("/", 1)[-1], message["Body"]
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def _text(value: Any) -> str:
    try:
        return zlib.decompress(value).decode()
    except zlib.error:
        return repr(value)
