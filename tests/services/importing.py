"""Running an import by hand: the queue's messages are read and given to the function one by one."""

import json
from collections.abc import Sequence
from typing import Any

import boto3
from chalice.app import SQSEvent

from chalicelib.domain.customer import Customer
from chalicelib.domain.import_batch import ImportProgress
from chalicelib.domain.paging import PageRequest
from chalicelib.functions.import_customers import import_customers
from chalicelib.services.accept_batch import read_import
from chalicelib.services.read_customers import list_customers


def queued_messages(account_id: str) -> list[str]:
    """The bodies of the account's messages, which are taken off the queue."""
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="feedback-test-imports.fifo")["QueueUrl"]
    bodies: list[str] = []
    while True:
        messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        if not messages:
            return [body for body in bodies if json.loads(body)["accountId"] == account_id]
        for message in messages:
            bodies.append(message["Body"])
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def deliver(bodies: Sequence[str], receive_count: int = 1) -> list[str]:
    """Gives messages to the function in one event; answers the ids of those to come again."""
    event = {
        "Records": [
            {
                "messageId": str(number),
                "body": body,
                "receiptHandle": "",
                "attributes": {"ApproximateReceiveCount": str(receive_count)},
            }
            for number, body in enumerate(bodies)
        ]
    }
    failures = import_customers(SQSEvent(event, None))["batchItemFailures"]
    return [failure["itemIdentifier"] for failure in failures]


def run_import(account_id: str, import_id: str) -> ImportProgress:
    """Delivers whatever is queued for the account and answers how far the import came."""
    deliver(queued_messages(account_id))
    return read_import(account_id, import_id)


def everyone(account_id: str) -> list[Customer]:
    """Every customer of the account, in list order, after a check that positions are dense."""
    first = list_customers(account_id, PageRequest(limit=100))
    customers = list(first.items)
    for page in range(2, first.meta.total_pages + 1):
        customers += list_customers(account_id, PageRequest(limit=100, page=page)).items
    assert len(customers) == first.meta.total_items
    assert len({customer.id for customer in customers}) == len(customers)
    return customers


def numbers(progress: ImportProgress) -> dict[str, Any]:
    """What an import did to its rows."""
    assert (
        progress.created + progress.filled + progress.unchanged + progress.failed
        == progress.row_count
    )
    return {
        name: count
        for name in ("created", "filled", "unchanged", "failed")
        if (count := getattr(progress, name))
    }
