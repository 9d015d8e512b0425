"""Execute the steps of docs/operating.md that restore all tables from a backup.

Moto ignores the time of a restore. Therefore the test replaces the rows of the restored tables with
a copy of the rows at that time.
"""

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.config import default_user_config
from moto.dynamodb.models import dynamodb_backends

from admin.services.erasure.replay import replay_erasures
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import new_id
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.queues import PURCHASES
from chalicelib.services.purchases.read import read_purchase
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.purchases import PurchaseRow
from infrastructure.deployment.deploy import enable_event_source
from infrastructure.functions import FUNCTIONS
from tests.docs.aws_commands import AwsCommands
from tests.docs.blocks import blocks
from tests.services.erasure.erasing import erase, finish
from tests.services.moved_time import Time
from tests.services.queues import PURCHASE_QUEUE
from tests.services.solicitation.soliciting import Shop, open_shop

NOT_RESTORED = {"erasures", "contacts", "account-changes"}
PERSON = {"email": "zoe@example.test", "phoneNumber": "+33612345678"}
PREFIX = "feedback-test-"
WITH_QUEUE = {function.name: function.queue for function in FUNCTIONS if function.queue}


def step(*containing: str) -> str:
    """Return the block that contains these texts, for the stage of the tests."""
    (found,) = (
        block.text
        for block in blocks("docs/operating.md")
        if all(text in block.text for text in containing)
    )
    return found.replace("-prod", "-test")


def tables() -> Any:
    return dynamodb_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].tables


def restored_tables() -> list[str]:
    names = {name.removeprefix(PREFIX) for name in tables()}
    assert names > NOT_RESTORED
    return sorted(names - NOT_RESTORED)


def create_functions() -> None:
    """Create the functions and their event sources, without the code of the functions."""
    trusted = json.dumps({"Version": "2012-10-17", "Statement": []})
    role = boto3.client("iam").create_role(RoleName="any", AssumeRolePolicyDocument=trusted)
    for name in ("feedback-test", *(f"{PREFIX}{name}" for name in [*WITH_QUEUE, "sweep"])):
        boto3.client("lambda").create_function(
            FunctionName=name,
            Runtime="python3.11",
            Role=role["Role"]["Arn"],
            Handler="app.app",
            Code={"ZipFile": b"code"},
        )
    for name, queue in WITH_QUEUE.items():
        boto3.client("lambda").create_event_source_mapping(
            FunctionName=f"{PREFIX}{name}",
            EventSourceArn=f"arn:aws:sqs:eu-west-1:{DEFAULT_ACCOUNT_ID}:{PREFIX}{queue.name}",
        )


def event_sources() -> list[Any]:
    return boto3.client("lambda").list_event_source_mappings()["EventSourceMappings"]


def send_purchase(shop: Shop, **fields: Any) -> None:
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=f"{PREFIX}{PURCHASES.name}")["QueueUrl"]
    body = {"accountId": shop.account_id, "purchase": shop.definition(**fields)}
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps(body))


def deliver_purchases() -> int:
    """Deliver the messages as the event source does. Return the number of messages."""
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=f"{PREFIX}{PURCHASES.name}")["QueueUrl"]
    messages = sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"]
    ).get("Messages", [])
    for message in messages:
        assert message["Attributes"]["ApproximateReceiveCount"] == "1"
        sent_at = datetime.fromtimestamp(int(message["Attributes"]["SentTimestamp"]) / 1000, UTC)
        assert PURCHASE_QUEUE.deliver([message["Body"]], sent_at=sent_at) == []
    return len(messages)


def test_restore_keeps_queued_purchases_newer_versions_and_erasures(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(default_user_config, "lambda", {"use_docker": False})
    shop = open_shop()
    visitor = shop.record(customer=PERSON)
    assert visitor.customer_id
    order: dict[str, Any] = {"source": "Site", "externalId": new_id(), "customer": None}
    newer = json.dumps(
        {"accountId": shop.account_id, "purchase": shop.definition(**order, metadata={"v": "2"})}
    )
    in_a_minute = datetime.now(UTC) + timedelta(minutes=1)
    assert PURCHASE_QUEUE.deliver([newer], sent_at=in_a_minute) == []
    rows_at_time = {
        name: copy.deepcopy(tables()[PREFIX + name].items) for name in restored_tables()
    }
    send_purchase(shop, customer=PERSON)
    send_purchase(shop, **order, metadata={"v": "1"})
    time.ahead += timedelta(minutes=2)
    erase(shop.account_id, visitor.customer_id)
    finish(shop.account_id, visitor.customer_id, time)

    create_functions()
    aws = AwsCommands()
    for name in WITH_QUEUE:
        aws.run(step("update-event-source-mapping").replace("record_purchase", name))
    assert {source["State"] for source in event_sources()} == {"Disabled"}
    aws.run(step("put-function-concurrency"))
    stopped = {
        name
        for name in ("", *(f"-{function.name}" for function in FUNCTIONS[1:]))
        if boto3.client("lambda")
        .get_function_concurrency(FunctionName=f"feedback-test{name}")
        .get("ReservedConcurrentExecutions")
        == 0
    }
    assert stopped == {"", "-sweep"}

    names = restored_tables()
    for part in (
        "restore-table-to-point-in-time",
        "restore-table-from-backup",
        "update-continuous-backups",
    ):
        for name in names:
            aws.run(step(part).replace("test-customers", f"test-{name}"))
    for name in names:
        table = tables()[PREFIX + name]
        table.items = rows_at_time[name]
        assert table.deletion_protection_enabled
        recovery = boto3.client("dynamodb").describe_continuous_backups(TableName=PREFIX + name)
        point_in_time = recovery["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert point_in_time["PointInTimeRecoveryStatus"] == "ENABLED"
    time_to_live = boto3.client("dynamodb").describe_time_to_live(TableName=f"{PREFIX}imports")
    assert time_to_live["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "expires_at",
    }
    for queue in ("imports.fifo", "listing.fifo", "feedback", "webhooks", "solicitations"):
        aws.run(step("purge-queue").replace("test-feedback", f"test-{queue}"))
    assert [erasure.account_id for erasure in replay_erasures(lambda _: None)] == [shop.account_id]
    for source in event_sources():
        enable_event_source(source["UUID"])
    assert {source["State"] for source in event_sources()} == {"Enabled"}

    assert deliver_purchases() == 2
    assert list(CustomerRow.scan()) == []
    assert {row.customer_id for row in PurchaseRow.scan()} == {None}
    order_id = purchase_id(shop.account_id, DataSource("Site"), order["externalId"])
    assert read_purchase(shop.account_id, order_id).metadata == {"v": "2"}
