"""Execute the commands of docs/runbook.md that restore tables from a backup.

Moto ignores the time of a restore. Therefore the test replaces the rows of the temporary tables
with a copy of the rows at that time.
"""

import copy
import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.config import default_user_config
from moto.dynamodb.models import dynamodb_backends

from admin.services.accounts.manage import (
    create_account,
    issue_key,
    require_account,
    require_key,
    revoke_key,
)
from admin.services.close_account import close_account
from admin.services.webhooks.secret import rotate_webhook_secret
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import new_id
from chalicelib.domain.purchases.purchase import purchase_id
from chalicelib.queues import PURCHASES
from chalicelib.services.purchases.read import read_purchase
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.purchases import PurchaseRow
from infrastructure import restore
from infrastructure.deployment import lock
from infrastructure.deployment.progress import DeploymentError
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.functions import FUNCTIONS, STAGES
from infrastructure.restore import Restore
from tests.admin.command import run
from tests.aws.faults import failing
from tests.aws.tables import error
from tests.docs.aws_commands import run_aws_commands
from tests.docs.blocks import block, blocks
from tests.services.erasure.erasing import erase, finish
from tests.services.moved_time import Time
from tests.services.queues import PURCHASE_QUEUE
from tests.services.solicitation.soliciting import Shop, open_shop

USES_TABLES_OF_MOTO = True
"""Only moto restores tables from backups."""
NOT_RESTORED = {"erasures", "contacts", "account-changes"}
PERSON = {"email": "zoe@example.test", "phoneNumber": "+33612345678"}
PREFIX = "feedback-test-"
WITH_QUEUE = {function.name: function.queue for function in FUNCTIONS if function.queue}


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


def reserved_concurrency() -> dict[str, int]:
    """Return the reserved concurrency of the functions that have one."""
    functions = boto3.client("lambda")
    found = {
        name: functions.get_function_concurrency(FunctionName=f"feedback-test{name}")
        for name in ("", *(f"-{function.name}" for function in FUNCTIONS[1:]))
    }
    key = "ReservedConcurrentExecutions"
    return {name: response[key] for name, response in found.items() if key in response}


def event_sources() -> list[Any]:
    return boto3.client("lambda").list_event_source_mappings()["EventSourceMappings"]


def key_of(account_id: str) -> str:
    """Issue an API key."""
    return issue_key(account_id, "operator")[0].api_key


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


@pytest.fixture(autouse=True)
def _stage(account: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for AWS. Protect the tables against deletion, as in production."""
    monkeypatch.setattr(boto3, "client", cache(boto3.client))
    monkeypatch.setitem(default_user_config, "lambda", {"use_docker": False})
    monkeypatch.setattr(restore.time, "sleep", lambda _: None)
    monkeypatch.setattr(restore, "_deployed", lambda _: protected_stage())


def start_functions() -> None:
    """Create the functions if they do not exist, and start them.

    Moto invokes the functions when a test sends a message, so start them after the last message.
    """
    if not event_sources():
        create_functions()
    restore.start_writers("test")


def assert_tables_have_settings_of_template() -> None:
    """Check the settings of the tables that a restore has replaced."""
    dynamodb = boto3.client("dynamodb")
    for name, expected in protected_stage().expected_tables.items():
        if name.removeprefix(PREFIX) in NOT_RESTORED:
            continue
        table: Any = dynamodb.describe_table(TableName=name)["Table"]
        for setting in ("KeySchema", "DeletionProtectionEnabled"):
            assert table[setting] == expected[setting]
        indexes = {index["IndexName"] for index in table.get("GlobalSecondaryIndexes", [])}
        assert indexes == {i["IndexName"] for i in expected.get("GlobalSecondaryIndexes", [])}
        backups: Any = dynamodb.describe_continuous_backups(TableName=name)
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
        time_to_live = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        wanted = expected.get("TimeToLiveSpecification", {}).get("AttributeName")
        assert time_to_live.get("AttributeName") == wanted


def protected_stage() -> DeployedStage:
    stage = next(stage for stage in STAGES if stage.name == "test")
    deployed = DeployedStage(replace(stage, reserved_concurrency={"api_handler": 200}))
    deployed.expected_tables = {
        name: {**table, "DeletionProtectionEnabled": True}
        for name, table in deployed.expected_tables.items()
    }
    return deployed


def commands() -> list[list[str]]:
    """Return the arguments of the three commands of the page, without the stage."""
    (found,) = (
        b for b in blocks("docs/runbook.md") if any("stage stop" in c for c in b.admin_commands)
    )
    stop, restore_to, start = (shlex.split(command)[2:] for command in found.admin_commands)
    return [[*stop, "--yes"], [*restore_to, "--yes"], start]


def test_restore_keeps_queued_purchases_newer_versions_and_erasures(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_shop()
    visitor = shop.record(customer=PERSON)
    assert visitor.customer_id
    order: dict[str, Any] = {"source": "Site", "externalId": new_id(), "customer": None}
    newer = json.dumps(
        {"accountId": shop.account_id, "purchase": shop.definition(**order, metadata={"v": "2"})}
    )
    time.ahead += timedelta(minutes=1)
    assert PURCHASE_QUEUE.deliver([newer], sent_at=datetime.now(UTC) + time.ahead) == []
    closed = create_account("Closed").id
    keys = {"revoked": key_of(shop.account_id), "closed": key_of(closed)}
    names = restored_tables()
    rows_at_time = {name: copy.deepcopy(tables()[PREFIX + name].items) for name in names}
    send_purchase(shop, customer=PERSON)
    send_purchase(shop, **order, metadata={"v": "1"})
    time.ahead += timedelta(minutes=2)
    erase(shop.account_id, visitor.customer_id)
    finish(shop.account_id, visitor.customer_id, time)

    revoke_key(keys["revoked"], "operator")
    keys["lost"] = key_of(shop.account_id)
    revoke_key(key_of(shop.account_id), "operator")
    rotate_webhook_secret(shop.account_id, "operator")
    rotate_webhook_secret(closed, "operator")
    key_of(closed)
    close_account(closed, "operator", lambda _: None)

    start_functions()
    stop, restore_to, start = commands()
    refused = run(*restore_to)
    assert refused.exit_code == 2
    assert "accepts writes" in " ".join(refused.stderr.split())
    assert run(*stop).exit_code == 0
    assert {source["State"] for source in event_sources()} == {"Disabled"}
    assert reserved_concurrency() == {"": 0, "-sweep": 0}

    real = Restore._restore_temporary

    def restore_temporary(plan: Restore) -> None:
        real(plan)
        for name in names:
            if temporary := tables().get(plan.temporary(PREFIX + name)):
                temporary.items = copy.deepcopy(rows_at_time[name])

    monkeypatch.setattr(Restore, "_restore_temporary", restore_temporary)
    for operation in (
        "RestoreTableToPointInTime",
        "CreateBackup",
        "DeleteTable",
        "RestoreTableFromBackup",
        "UpdateContinuousBackups",
        "PurgeQueue",
    ):
        with failing(error(operation, "LimitExceededException"), 1, operation, after=2):
            assert run(*restore_to).exit_code == 1, operation
        not_ended = run(*start)
        assert not_ended.exit_code == 1
        assert "A restore has not ended" in not_ended.stderr
    result = run(*restore_to, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    shown = json.loads(result.stdout)
    assert shown["tables"] == [PREFIX + name for name in names]
    assert shown["repeatedChanges"] == {
        "revokedKeys": [keys["revoked"]],
        "closedAccounts": [closed],
        "lostKeys": {keys["lost"]: shop.account_id},
        "rotatedSecrets": [shop.account_id],
    }
    assert all(require_key(keys[name]).revoked_at for name in ("revoked", "closed"))
    assert require_account(closed).closed_at
    assert {name.removeprefix(PREFIX) for name in tables()} == {*names, *NOT_RESTORED}
    assert_tables_have_settings_of_template()
    assert run(*start).exit_code == 0
    assert {source["State"] for source in event_sources()} == {"Enabled"}
    assert reserved_concurrency() == {"": 200}

    assert deliver_purchases() == 2
    assert list(CustomerRow.scan()) == []
    assert {row.customer_id for row in PurchaseRow.scan()} == {None}
    order_id = purchase_id(shop.account_id, DataSource("Site"), order["externalId"])
    assert read_purchase(shop.account_id, order_id).metadata == {"v": "2"}


def test_restore_ends_if_backup_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    start_functions()
    stop, restore_to, _ = commands()
    assert run(*stop).exit_code == 0
    restore_to[restore_to.index("--to") + 1] = "2026-11-20T12:00:00Z"
    before = set(tables())
    monkeypatch.setattr(Restore, "_backup_of", lambda *_: None)
    result = run(*restore_to)
    assert result.exit_code == 1
    assert "is missing" in result.stderr
    for name in tables().keys() - before:
        boto3.client("dynamodb").delete_table(TableName=name)


def test_restore_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(0, 10**9, 60))
    monkeypatch.setattr(restore.time, "monotonic", lambda: next(moments))
    with pytest.raises(restore.RestoreFailed, match=r"not active.*1440 minutes"):
        Restore("test", datetime.now(UTC))._wait_until_active(f"{PREFIX}unknown")


def test_restore_without_confirmation_changes_no_table() -> None:
    start_functions()
    stop, restore_to, _ = commands()
    assert run(*stop).exit_code == 0
    before = {name: table.created_at for name, table in tables().items()}
    restore_to[restore_to.index("--to") + 1] = "2026-11-20T11:00:00Z"
    assert run(*restore_to[:-1]).exit_code == 2
    assert before.items() <= {name: table.created_at for name, table in tables().items()}.items()
    for name in tables().keys() - before.keys():
        boto3.client("dynamodb").delete_table(TableName=name)


def test_documented_command_restores_one_table() -> None:
    command = block("docs/runbook.md", "restore-table-to-point-in-time").text
    run_aws_commands(command.replace("-prod", "-test"), boto3.client("dynamodb"))
    assert f"{PREFIX}customers-restored" in tables()
    boto3.client("dynamodb").delete_table(TableName=f"{PREFIX}customers-restored")


def test_stopped_stage_cannot_be_deployed_until_it_is_started() -> None:
    start_functions()
    stop, _, start = commands()
    for _ in range(2):
        assert run(*stop).exit_code == 0
        with pytest.raises(DeploymentError, match=r"is stopped by \S+@\S+, .* stage start"):
            lock.deployment_lock("test").__enter__()
    assert run(*start).exit_code == 0
    with lock.deployment_lock("test"):
        for command in (stop, start):
            refused = run(*command)
            assert refused.exit_code == 1
            assert "Another deployment of the stage test is running" in refused.stderr
    assert {source["State"] for source in event_sources()} == {"Enabled"}
    assert run(*stop).exit_code == 0


def test_restore_needs_lock_of_stopped_stage() -> None:
    start_functions()
    stop, restore_to, _ = commands()
    assert run(*stop).exit_code == 0
    boto3.client("ssm").delete_parameter(Name="feedback-test-deployment")
    refused = run(*restore_to)
    assert refused.exit_code == 2
    assert "A deployment can start the stage" in " ".join(refused.stderr.split())
    assert run(*stop).exit_code == 0
