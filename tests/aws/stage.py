"""The stage ``test`` in this process: its tables in memory, and everything else in moto.

With the variable ``PLAIN_MOTO``, moto serves the tables too.
"""

import copy
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import format_datetime
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table
from moto.secretsmanager.models import secretsmanager_backends
from moto.sns.models import Topic
from moto.sqs import models as sqs_models
from moto.sqs.models import Queue, sqs_backends

from chalicelib import aws_calls
from chalicelib.domain import clock
from tests.aws import recording
from tests.aws.capacity import Meter
from tests.aws.requests import NOT_COUNTED, Request, responding
from tests.aws.tables import Tables, template

PLAIN_MOTO: Final = bool(os.environ.get("PLAIN_MOTO"))
RECORDED: Final = os.environ.get("RECORDED_REQUESTS")
"""The folder for the requests of this run, which the end-to-end tests repeat."""

_REGION: Final = "eu-west-1"
_KINDS: Final = {
    "AWS::DynamoDB::Table": (Table, "TableName"),
    "AWS::SQS::Queue": (Queue, "QueueName"),
    "AWS::SNS::Topic": (Topic, "TopicName"),
}

# For each message, moto converts the names of all attributes of its queue again.
sqs_models.camelcase_to_underscores = cache(camelcase_to_underscores)  # type: ignore[attr-defined]

_tables: Final[list[Tables]] = []


def create_data_stack() -> None:
    """Create the tables, queues, topics and the secret of the data stack in moto.

    Moto's CloudFormation does the same, but it imports all of moto's services, which takes seconds.
    """
    for resource_type, (kind, name) in _KINDS.items():
        resources = template("test").by_name(resource_type, name).items()
        for full_name, properties in sorted(resources, key=lambda each: "RedrivePolicy" in each[1]):
            if dead_letters := properties.get("RedrivePolicy", {}).get("deadLetterTargetArn"):
                arn = f"arn:aws:sqs:{_REGION}:{DEFAULT_ACCOUNT_ID}:{dead_letters}"
                properties["RedrivePolicy"]["deadLetterTargetArn"] = arn
            kind.create_from_cloudformation_json(
                full_name, {"Properties": properties}, DEFAULT_ACCOUNT_ID, _REGION
            )
    secretsmanager_backends[DEFAULT_ACCOUNT_ID][_REGION].create_secret(
        "feedback-test-stage-secret", "test", None, None, None, None, None, [], False
    )


@contextmanager
def memory_tables(*, is_plain: bool = PLAIN_MOTO) -> Iterator[None]:
    """Respond to the requests to the tables of the stage with empty tables in memory.

    Args:
        is_plain: whether moto responds instead, with the time of the test's clock.
    """
    _tables.append(Tables("test", lambda: clock.now().timestamp()))
    try:
        with responding(partial(_respond, is_plain)):
            yield
    finally:
        _tables.pop()


def tables() -> Tables:
    """Return the tables in memory. Skip tests that need them if moto serves the tables."""
    if PLAIN_MOTO:
        pytest.skip("Moto computes no units, and its tables have another structure.")
    return _tables[-1]


@contextmanager
def metered_requests() -> Iterator[Meter]:
    """Count the requests of the ``with`` block and their units.

    Requests that only a new process or a test sends are not counted.
    """

    def count(request: Request) -> Any:
        if request.operation not in NOT_COUNTED:
            meter.requests[f"{request.service}.{request.operation}"] += 1
        return request.send()

    with tables().metered() as meter, responding(count):
        yield meter


def save_recorded_requests() -> None:
    """Write the requests of this process to the folder for recorded requests."""
    if RECORDED:
        recording.save(Path(RECORDED), str(os.getpid()))


def _respond(is_plain: bool, request: Request) -> Any:
    if request.service != "dynamodb":
        return request.send()
    is_in_memory = not is_plain and _is_in_memory(request)
    response = _from_memory(request) if is_in_memory else request.send()
    date = format_datetime(clock.now().replace(microsecond=0), usegmt=True)
    response["ResponseMetadata"]["HTTPHeaders"]["date"] = date
    return response


def _is_in_memory(request: Request) -> bool:
    """Return whether the request is about tables of the stage, and not about their settings."""
    names = {table for table, _ in request.table_actions()}
    is_known = request.client.meta.region_name == _REGION and all(n in tables() for n in names)
    return is_known and hasattr(Tables, request.operation)


def _from_memory(request: Request) -> Any:
    """Respond as botocore does: call its event handlers, and share no values with the tables."""
    client: Any = request.client
    model, context = client.meta.service_model.operation_model(request.operation), dict[str, Any]()
    arguments = client._emit_api_params(
        api_params=_copied(request.arguments), operation_model=model, context=context
    )
    unknown = arguments.keys() - model.input_shape.members.keys()
    assert not unknown, f"{request.operation} has no parameters {unknown}"
    if client.meta.config.user_agent == aws_calls._USER_AGENT:
        aws_calls._count(f"before-send.dynamodb.{request.operation}")
    if RECORDED:
        recording.record(tables(), request.operation, arguments)
    response = _copied(tables().respond(request.operation, arguments))
    metadata = {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}
    response["ResponseMetadata"] = metadata
    client.meta.events.emit(
        f"after-call.dynamodb.{request.operation}",
        http_response=SimpleNamespace(status_code=200),
        parsed=response,
        model=model,
        context=context,
    )
    return response


def _copied(value: Any) -> Any:
    """Copy objects and arrays. A member of an enumeration becomes its text, as in a request."""
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(member) for member in value]
    return value.value if isinstance(value, Enum) else value


def delete_rows_and_messages() -> None:
    """Empty all tables and queues."""
    for stage in _tables:
        stage.clear()
    for table in _moto_tables().values():
        table.items.clear()
    for queue in sqs_backends[DEFAULT_ACCOUNT_ID][_REGION].queues.values():
        queue._messages.clear()
        queue.deleted_messages.clear()
        queue._pending_messages.clear()


def copy_rows() -> dict[str, Any]:
    """Return a copy of all rows by table."""
    if PLAIN_MOTO:
        return {name: copy.deepcopy(table.items) for name, table in _moto_tables().items()}
    return {name: dict(tables().rows(name)) for name in tables().names}


def put_rows(copied: Mapping[str, Any]) -> None:
    """Store the rows of a copy."""
    for name, rows in copied.items():
        if PLAIN_MOTO:
            _moto_tables()[name].items.update(copy.deepcopy(rows))
            continue
        for key, row in rows.items():
            tables().replace(name, key, row)


def _moto_tables() -> dict[str, Any]:
    return dynamodb_backends[DEFAULT_ACCOUNT_ID][_REGION].tables
