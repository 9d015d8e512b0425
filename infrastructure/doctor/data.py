"""Check the tables and the queues."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from chalicelib.domain import clock
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, differences, missing
from infrastructure.restore import TEMPORARY_SUFFIX

_UPDATE_STACK: Final = (
    "Detect the drift of the data stack in CloudFormation, and correct the resource to match"
    " infrastructure/data.yaml."
)
_PITR: Final = (
    "Turn on the recovery: aws dynamodb update-continuous-backups (docs/operating.md, Restore)."
)
_RECOVERY: Final = timedelta(days=35)
"""The age up to which point-in-time recovery can restore the tables."""
_TTL: Final = "Turn on time to live: aws dynamodb update-time-to-live (docs/operating.md, Restore)."
_REDRIVE: Final = "Set the RedrivePolicy of the template: aws sqs set-queue-attributes."
_INDEX: Final = (
    "Create the index: aws dynamodb update-table, or change the template and deploy. Wait until the"
    " index is active."
)


def check_tables(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that the tables exist with the keys, billing mode and protection of the template."""
    yield from missing(deployed.expected_tables, deployed.tables, deployed.deploy_fix)
    for name, table in deployed.tables.items():
        expected = deployed.expected_tables[name]
        actual = {
            "TableStatus": table["TableStatus"],
            "KeySchema": table["KeySchema"],
            "BillingMode": table.get("BillingModeSummary", {}).get("BillingMode"),
            "DeletionProtectionEnabled": table.get("DeletionProtectionEnabled", False),
        }
        wanted = {key: expected[key] for key in actual if key in expected}
        yield from differences(name, {"TableStatus": "ACTIVE", **wanted}, actual, _UPDATE_STACK)


def check_indexes(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that every index exists and is active, with the keys and projection of the template."""
    for name, table in deployed.tables.items():
        actual = {index["IndexName"]: index for index in table.get("GlobalSecondaryIndexes", [])}
        for expected in deployed.expected_tables[name].get("GlobalSecondaryIndexes", []):
            resource = f"{name}/{expected['IndexName']}"
            index = actual.get(expected["IndexName"])
            if index is None:
                yield Problem(resource, "The index does not exist.", _INDEX)
                continue
            wanted = _index_properties(expected)
            yield from differences(resource, wanted, _index_properties(index), _INDEX)


def check_encryption(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that every table is encrypted, with the stage's KMS key if the template requires it."""
    alias = f"alias/feedback-{deployed.stage.name}-secrets"
    own_key = _enabled_key(deployed, alias)
    for name, table in deployed.tables.items():
        description = table.get("SSEDescription", {})
        has_own_key = "KMSMasterKeyId" in deployed.expected_tables[name]["SSESpecification"]
        if description.get("Status") not in ("ENABLED", "UPDATING"):
            yield Problem(name, "The table is not encrypted with a KMS key.", _UPDATE_STACK)
        elif has_own_key and description.get("KMSMasterKeyArn") != own_key:
            detail = f"The table is not encrypted with the enabled key {alias}."
            yield Problem(name, detail, _UPDATE_STACK)


def check_recovery(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that every table has point-in-time recovery."""
    dynamodb = deployed.client("dynamodb")
    for name in deployed.tables:
        backups = dynamodb.describe_continuous_backups(TableName=name)
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        if recovery["PointInTimeRecoveryStatus"] != "ENABLED":
            yield Problem(name, "Point-in-time recovery is off.", _PITR)


def check_backups(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that no backup that a restore has taken is older than point-in-time recovery.

    Such a backup can contain persons who were erased after it.
    """
    name = re.compile(re.escape(f"feedback-{deployed.stage.name}") + TEMPORARY_SUFFIX)
    for backup in deployed.listed("dynamodb", "list_backups", "BackupSummaries"):
        is_old = clock.now() - backup["BackupCreationDateTime"] > _RECOVERY
        if is_old and name.fullmatch(backup["BackupName"]):
            detail = f"A backup of a restore is older than {_RECOVERY.days} days."
            fix = f"Delete it: aws dynamodb delete-backup --backup-arn {backup['BackupArn']}"
            yield Problem(backup["TableName"], detail, fix)


def check_time_to_live(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that time to live is on for every table with expiring rows."""
    dynamodb = deployed.client("dynamodb")
    for name in deployed.tables:
        expected = deployed.expected_tables[name].get("TimeToLiveSpecification")
        actual = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        is_on = actual["TimeToLiveStatus"] in ("ENABLED", "ENABLING")
        attribute = actual.get("AttributeName") if is_on else None
        wanted = expected["AttributeName"] if expected else None
        if attribute != wanted:
            detail = f"The time-to-live attribute is {attribute}, expected {wanted}."
            yield Problem(name, detail, _TTL)


def check_queues(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that the queues exist with the time-outs, retention and encryption of the template."""
    yield from missing(deployed.expected_queues, deployed.queues, deployed.deploy_fix)
    for name, attributes in deployed.queues.items():
        properties = deployed.expected_queues[name]
        expected = {
            key: str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in properties.items()
            if key not in ("QueueName", "RedrivePolicy")
        }
        yield from differences(name, expected, attributes, _UPDATE_STACK)


def check_redrive(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that every queue moves undeliverable messages to its dead-letter queue."""
    for name, attributes in deployed.queues.items():
        actual = json.loads(attributes.get("RedrivePolicy", "{}"))
        expected = deployed.expected_queues[name].get("RedrivePolicy", {})
        target = actual.get("deadLetterTargetArn", "").rpartition(":")[2]
        policy = {**actual, "deadLetterTargetArn": target} if actual else {}
        yield from differences(name, expected, policy, _REDRIVE)


def _index_properties(index: dict[str, Any]) -> dict[str, Any]:
    projection = index["Projection"]
    return {
        "IndexStatus": index.get("IndexStatus", "ACTIVE"),
        "KeySchema": index["KeySchema"],
        "ProjectionType": projection["ProjectionType"],
        "NonKeyAttributes": sorted(projection.get("NonKeyAttributes", [])),
    }


def _enabled_key(deployed: DeployedStage, alias: str) -> str | None:
    kms = deployed.client("kms")
    try:
        key = kms.describe_key(KeyId=alias)["KeyMetadata"]
    except kms.exceptions.NotFoundException:
        return None
    return str(key["Arn"]) if key["Enabled"] else None
