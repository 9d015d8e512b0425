"""Tests of failed messages if the event source may not accept partial batch responses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

import app
from chalicelib.domain.ids import new_id
from chalicelib.outbound import event_sources
from chalicelib.queues import FEEDBACK, LISTING, Queue
from chalicelib.services.caching import clear_caches
from chalicelib.services.work.partial_batch import MessagesFailed
from infrastructure.deployment.code_package import PARTIAL_BATCH_RESPONSES
from infrastructure.functions import FUNCTIONS, STAGES
from infrastructure.generate import policy

VALID = '{"accountId": "a", "feedbackId": "unknown"}'


@dataclass
class Lambda:
    """A client for Lambda that returns the settings of event sources or raises an error."""

    response_types: list[list[str]] = field(default_factory=lambda: [PARTIAL_BATCH_RESPONSES])
    error: ClientError | None = None
    requests: list[Any] = field(default_factory=list)

    def list_event_source_mappings(self, **arguments: Any) -> Any:
        self.requests.append(arguments)
        if self.error:
            raise self.error
        mappings = [{"FunctionResponseTypes": types} for types in self.response_types]
        return {"EventSourceMappings": mappings}


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambda]:
    client = Lambda()
    monkeypatch.setattr(event_sources, "aws_client", lambda _: client)
    clear_caches()
    yield client
    clear_caches()


@dataclass
class Batch:
    """Messages that the queue has delivered to a function."""

    url: str
    records: list[dict[str, Any]]

    @property
    def in_queue(self) -> int:
        """The number of messages that the queue still contains."""
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = boto3.client("sqs").get_queue_attributes(QueueUrl=self.url, AttributeNames=names)
        return sum(map(int, counts["Attributes"].values()))


_received: list[Batch] = []


@pytest.fixture(autouse=True)
def empty_queues(cloud: None) -> Iterator[None]:
    """Delete the messages that a test leaves in the queues."""
    yield
    sqs = boto3.client("sqs")
    while _received:
        batch = _received.pop()
        for record in batch.records:
            sqs.delete_message(QueueUrl=batch.url, ReceiptHandle=record["receiptHandle"])


def receive(queue: Queue, *bodies: str) -> Batch:
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=f"feedback-test-{queue.name}")["QueueUrl"]
    for body in bodies:
        fifo: Any = {"MessageGroupId": "a", "MessageDeduplicationId": new_id()}
        sqs.send_message(QueueUrl=url, MessageBody=body, **(fifo if queue.is_fifo else {}))
    messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    records = [
        {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": {"MessageGroupId": "a", "ApproximateReceiveCount": "1"},
            "eventSourceARN": f"arn:aws:sqs:eu-west-1:1:feedback-test-{queue.name}",
        }
        for message in messages
    ]
    assert [record["body"] for record in records] == list(bodies)
    _received.append(Batch(url, records))
    return _received[-1]


def failures(batch: Batch, *numbers: int) -> Any:
    ids = [batch.records[number]["messageId"] for number in numbers]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in ids]}


def test_event_source_with_setting_gets_response(functions: Lambda) -> None:
    batch = receive(FEEDBACK, "{", VALID)
    assert app.process_feedback({"Records": batch.records}, None) == failures(batch, 0)
    assert batch.in_queue == 2


def test_setting_is_read_only_if_messages_fail_and_once_a_minute(functions: Lambda) -> None:
    successful, failing = receive(FEEDBACK, VALID), receive(FEEDBACK, "{")
    app.process_feedback({"Records": successful.records}, None)
    assert functions.requests == []
    for _ in range(2):
        app.process_feedback({"Records": failing.records}, None)
    assert functions.requests == [{"EventSourceArn": failing.records[0]["eventSourceARN"]}]


UNKNOWN_SETTINGS: list[dict[str, Any]] = [
    {"response_types": [[]]},
    {"response_types": []},
    {"response_types": [PARTIAL_BATCH_RESPONSES, []]},
    {"error": ClientError({"Error": {"Code": "AccessDenied"}}, "ListEventSourceMappings")},
]


@pytest.mark.parametrize("settings", UNKNOWN_SETTINGS)
def test_function_without_setting_deletes_other_messages_and_fails(
    functions: Lambda, settings: dict[str, Any]
) -> None:
    for name, value in settings.items():
        setattr(functions, name, value)
    batch = receive(FEEDBACK, "{", VALID)
    with pytest.raises(MessagesFailed, match="1 of 2 messages failed"):
        app.process_feedback({"Records": batch.records}, None)
    assert batch.in_queue == 1


def test_failed_message_and_later_messages_of_its_group_stay_in_fifo_queue(
    functions: Lambda,
) -> None:
    functions.response_types = [[]]
    batch = receive(LISTING, '{"accountId": "a", "requestedAt": 1}', "{", "{")
    with pytest.raises(MessagesFailed, match="2 of 3 messages failed"):
        app.assign_positions({"Records": batch.records}, None)
    assert batch.in_queue == 2


def test_setting_that_is_missing_is_read_again(functions: Lambda) -> None:
    functions.response_types = [[]]
    batch = receive(FEEDBACK, "{")
    with pytest.raises(MessagesFailed):
        app.process_feedback({"Records": batch.records}, None)
    functions.response_types = [PARTIAL_BATCH_RESPONSES]
    assert app.process_feedback({"Records": batch.records}, None) == failures(batch, 0)


def test_permissions_of_function_allow_both_requests() -> None:
    for function in FUNCTIONS:
        if function.queue:
            assert "DeleteMessage" in function.queues[function.queue.name]
            actions = [s["Action"] for s in policy(function, STAGES[0])["Statement"]]
            assert ["lambda:ListEventSourceMappings"] in actions
