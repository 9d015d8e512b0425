"""Reset the tables of a stage to a time, from their point-in-time recovery.

Each step can be repeated: it reads from AWS which tables it has processed already. The temporary
tables and the backups contain the time in their names.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, Final
from uuid import uuid4

from botocore.exceptions import ClientError

from chalicelib.domain.errors import Conflict
from chalicelib.queues import ALL_QUEUES, MESSAGE_EVENTS, PURCHASES
from chalicelib.storage.feedback_changes import EPOCH, FeedbackChangeRow
from infrastructure.deployment import lock
from infrastructure.deployment.progress import DeploymentError
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.functions import FUNCTIONS, stage_named

NOT_RESTORED: Final = frozenset({"account-changes", "contacts", "erasures"})
"""Tables that a restore never changes.

They record which persons were erased, which addresses must not receive messages, and what operators
changed after the time.
"""

NOT_PURGED: Final = frozenset({PURCHASES, MESSAGE_EVENTS})
"""Queues with messages that exist nowhere else. The sweeper requeues the work of other queues."""

_MAX_INVOCATION_S: Final = max(function.timeout_s for function in FUNCTIONS)
_PAUSE_S: Final = 5
_CHANGE_TIMEOUT_S: Final = 15 * 60
_BUSY_S: Final = 2 * 60
_COPY_TIMEOUT_S: Final = 24 * 60 * 60
"""AWS copies a table in minutes to hours, depending on its size."""
TEMPORARY_SUFFIX: Final = r"-[0-9]{8}T[0-9]{6}Z"
"""The end of the names of temporary tables and of backups."""


class AcceptsWrites(Exception):
    """Functions of the stage can write, or a deployment can start them. The message says which."""


class RestoreFailed(Conflict):
    """A step of a restore failed. The message names the table and says what to do."""


@dataclass(frozen=True)
class Step:
    """A step of a restore.

    Attributes:
        is_final: whether the restore cannot be cancelled after the start of this step.
    """

    title: str
    run: Callable[[], None]
    is_final: bool = False


def stop_writers(stage: str) -> None:
    """Disable the event sources, stop the API and the sweeper, and wait for running invocations.

    The messages stay in their queues, with the times at which they were sent. The concurrency of a
    function with a queue must not be 0: its queue would count each throttled invocation as a
    receive, and move the messages to the dead-letter queue.

    The stage is not deployed until it is started, because a deployment could start functions.

    Raises:
        Conflict: a deployment is running.
        RestoreFailed: an event source is not disabled in time.
    """
    with _as_conflict():
        lock.lock_stopped_stage(stage)
    _set_writers(_deployed(stage), is_enabled=False)
    _wait_until(
        lambda: all(s["State"] == "Disabled" for s in _event_sources(_deployed(stage))),
        "The event sources are not disabled.",
    )
    time.sleep(_MAX_INVOCATION_S)


def start_writers(stage: str) -> None:
    """Enable the event sources, and set the reserved concurrency of the manifest.

    A deployment of the same template does not do this: CloudFormation compares templates.

    Raises:
        Conflict: a deployment is running, or a restore has not ended: its temporary tables exist.
    """
    deployed = _deployed(stage)
    pattern = re.compile(re.escape(deployed.resource_name("")) + f".+{TEMPORARY_SUFFIX}")
    names = deployed.listed("dynamodb", "list_tables", "TableNames")
    if found := [name for name in names if pattern.fullmatch(name)]:
        raise Conflict(
            f"A restore has not ended: the temporary table {found[0]} exists. Repeat stage restore"
            " with the same time. If you cancelled the restore before it replaced the tables,"
            f" delete its temporary tables ({len(found)})."
        )
    with _as_conflict(), lock.start_of_stage(stage):
        _set_writers(deployed, is_enabled=True)


def _set_writers(deployed: DeployedStage, *, is_enabled: bool) -> None:
    functions = deployed.client("lambda")
    for function in FUNCTIONS:
        if function.queue is None:
            name = deployed.function_name(function)
            reserved = deployed.stage.reserved_concurrency.get(function.name) if is_enabled else 0
            if reserved is None:
                functions.delete_function_concurrency(FunctionName=name)
            else:
                functions.put_function_concurrency(
                    FunctionName=name, ReservedConcurrentExecutions=reserved
                )
        elif source := deployed.event_source(function.queue):
            _retry_while(
                functions.exceptions.ResourceInUseException,
                partial(
                    functions.update_event_source_mapping, UUID=source["UUID"], Enabled=is_enabled
                ),
            )


def require_no_writes(stage: str) -> None:
    """Check that no function of the stage can write, and that no deployment can start one.

    Raises:
        AcceptsWrites: a function can write, or the stage can be deployed.
    """
    deployed = _deployed(stage)
    functions = deployed.client("lambda")
    writers = [
        f"{source['FunctionArn'].rpartition(':')[2]} ({source['State']})"
        for source in _event_sources(deployed)
        if source["State"] != "Disabled"
    ]
    for function, name, _ in deployed.stage_functions:
        if function.queue is None:
            concurrency = functions.get_function_concurrency(FunctionName=name)
            if concurrency.get("ReservedConcurrentExecutions") != 0:
                writers.append(name)
    if writers:
        raise AcceptsWrites(
            f"The stage {stage} accepts writes: {', '.join(writers)}. Stop it with stage stop."
        )
    if not lock.is_stopped(stage):
        raise AcceptsWrites(f"A deployment can start the stage {stage}. Stop it with stage stop.")


@contextmanager
def _as_conflict() -> Iterator[None]:
    try:
        yield
    except DeploymentError as error:
        raise Conflict(str(error)) from error


class Restore:
    """The restore of a stage to a time."""

    def __init__(self, stage: str, at: datetime) -> None:
        self._deployed = _deployed(stage)
        self._at = at
        self._suffix = at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        self._backup_name = f"feedback-{stage}-{self._suffix}"
        self._dynamodb = self._deployed.client("dynamodb")

    def steps(self, repetitions: Sequence[Step]) -> list[Step]:
        """Return the steps in their order. Start them when the stage accepts no writes.

        Args:
            repetitions: the steps that repeat what was recorded after the time. They come before
                the last step: until then, the stage cannot be started.
        """
        number = len(self.tables)
        return [
            Step(f"Restore {number} tables under temporary names", self._restore_temporary),
            Step("Back up the temporary tables", self._back_up),
            Step(f"Replace {number} tables", self._replace, is_final=True),
            Step("Turn on recovery, deletion protection and time to live", self._turn_on_settings),
            Step("Start a new epoch of the partners' feed", self._start_epoch),
            Step("Purge the queues whose work the sweeper requeues", self._purge),
            *repetitions,
            Step("Delete the temporary tables", self._delete_temporary),
        ]

    @cached_property
    def tables(self) -> list[str]:
        """The names of the tables to restore."""
        kept = {self._deployed.resource_name(name) for name in NOT_RESTORED}
        return sorted(self._deployed.expected_tables.keys() - kept)

    def temporary(self, table: str) -> str:
        """Return the temporary name of a table."""
        return f"{table}-{self._suffix}"

    def _restore_temporary(self) -> None:
        for table in self._not_replaced():
            if self._describe(self.temporary(table)) is None:
                self._dynamodb.restore_table_to_point_in_time(
                    SourceTableName=table,
                    TargetTableName=self.temporary(table),
                    RestoreDateTime=self._at,
                    **self._key_of(table),
                )
        for table in self._not_replaced():
            self._wait_until_active(self.temporary(table))

    def _back_up(self) -> None:
        for table in self._not_replaced():
            if self._backup_of(table) is None:
                self._dynamodb.create_backup(
                    TableName=self.temporary(table), BackupName=self._backup_name
                )
        for table in self.tables:
            _wait_until(
                partial(self._is_available, table),
                f"The backup of the table {self.temporary(table)} is not available.",
                _COPY_TIMEOUT_S,
            )

    def _replace(self) -> None:
        tables = self._not_replaced()
        for table in tables:
            if self._describe(table) is not None:
                self._dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
        for table in tables:
            if self._describe(table) is not None:
                self._wait_until_active(table)
                self._dynamodb.delete_table(TableName=table)
        for table in tables:
            _wait_until(
                partial(self._is_deleted, table),
                f"The table {table} is not deleted.",
            )
            self._dynamodb.restore_table_from_backup(
                TargetTableName=table, BackupArn=self._backup_of(table), **self._key_of(table)
            )
        for table in self.tables:
            self._wait_until_active(table)

    def _is_deleted(self, table: str) -> bool:
        return self._describe(table) is None

    def _turn_on_settings(self) -> None:
        """Turn on settings that DynamoDB does not restore and a deployment does not compare."""
        unavailable = self._dynamodb.exceptions.ContinuousBackupsUnavailableException
        for table in self.tables:
            expected = self._deployed.expected_tables[table]
            _retry_while(unavailable, partial(self._turn_on_recovery, table))
            if expected["DeletionProtectionEnabled"]:
                self._dynamodb.update_table(TableName=table, DeletionProtectionEnabled=True)
            time_to_live = expected.get("TimeToLiveSpecification")
            current = self._dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
            if time_to_live and current["TimeToLiveStatus"] == "DISABLED":
                self._dynamodb.update_time_to_live(
                    TableName=table, TimeToLiveSpecification=time_to_live
                )

    def _turn_on_recovery(self, table: str) -> None:
        self._dynamodb.update_continuous_backups(
            TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )

    def _start_epoch(self) -> None:
        """Make all cursors of partners invalid: their numbers can mean other changes now."""
        self._dynamodb.put_item(
            TableName=self._deployed.resource_name(FeedbackChangeRow.Meta.name),
            Item={
                "account_id": {"S": EPOCH},
                "number": {"S": EPOCH},
                "epoch": {"S": f"{self._suffix}-{uuid4()}"},
            },
        )

    def _purge(self) -> None:
        sqs = self._deployed.client("sqs")
        for queue in ALL_QUEUES:
            if queue not in NOT_PURGED:
                url = sqs.get_queue_url(QueueName=self._deployed.resource_name(queue.name))
                # SQS accepts one purge in a minute. The earlier purge has the same effect, because
                # no function sends messages.
                try:
                    sqs.purge_queue(QueueUrl=url["QueueUrl"])
                except ClientError as error:
                    if not error.response["Error"]["Code"].endswith("PurgeQueueInProgress"):
                        raise

    def _delete_temporary(self) -> None:
        for table in self.tables:
            if self._describe(self.temporary(table)) is not None:
                self._dynamodb.delete_table(TableName=self.temporary(table))

    def _not_replaced(self) -> list[str]:
        return [table for table in self.tables if not self._is_replaced(table)]

    def _is_replaced(self, table: str) -> bool:
        description = self._describe(table) or {}
        source = description.get("RestoreSummary", {}).get("SourceBackupArn")
        return source is not None and source == self._backup_of(table)

    def _backup_of(self, table: str) -> str | None:
        """Return the ARN of the backup of the table's temporary table."""
        backups = self._dynamodb.list_backups(TableName=self.temporary(table))["BackupSummaries"]
        arns = (b["BackupArn"] for b in backups if b["BackupName"] == self._backup_name)
        return next(arns, None)

    def _is_available(self, table: str) -> bool:
        """Return whether the backup of the table's temporary table is complete.

        Raises:
            RestoreFailed: the backup does not exist, or AWS has given it up.
        """
        status = "missing"
        if backup := self._backup_of(table):
            description = self._dynamodb.describe_backup(BackupArn=backup)["BackupDescription"]
            status = description["BackupDetails"]["BackupStatus"]
        if status not in ("CREATING", "AVAILABLE"):
            raise RestoreFailed(
                f"The backup of the table {self.temporary(table)} is {status}. Repeat the command."
            )
        return status == "AVAILABLE"

    def _key_of(self, table: str) -> dict[str, Any]:
        encryption = self._deployed.expected_tables[table]["SSESpecification"]
        if "KMSMasterKeyId" not in encryption:
            return {}
        key = f"alias/{self._deployed.resource_name('secrets')}"
        override = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
        return {"SSESpecificationOverride": override}

    def _describe(self, table: str) -> dict[str, Any] | None:
        try:
            description: dict[str, Any] = self._dynamodb.describe_table(TableName=table)["Table"]
        except self._dynamodb.exceptions.ResourceNotFoundException:
            return None
        return description

    def _wait_until_active(self, table: str) -> None:
        _wait_until(
            lambda: (self._describe(table) or {}).get("TableStatus") == "ACTIVE",
            f"The table {table} is not active.",
            _COPY_TIMEOUT_S,
        )


def _wait_until(
    is_done: Callable[[], bool], failure: str, timeout_s: int = _CHANGE_TIMEOUT_S
) -> None:
    """Wait until a change is done.

    Raises:
        RestoreFailed: the change is not done in time.
    """
    deadline = time.monotonic() + timeout_s
    while not is_done():
        if time.monotonic() > deadline:
            waited = f"Waited {timeout_s // 60} minutes."
            raise RestoreFailed(f"{failure} {waited} Repeat the command to continue.")
        time.sleep(_PAUSE_S)


def _retry_while(error: type[Exception], request: Callable[[], object]) -> None:
    """Send a request. Repeat the request while it raises this error, for at most two minutes."""
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            request()
        except error:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _deployed(stage: str) -> DeployedStage:
    return DeployedStage(stage_named(stage))


def _event_sources(deployed: DeployedStage) -> Iterator[dict[str, Any]]:
    sources = (deployed.event_source(function.queue) for function in FUNCTIONS if function.queue)
    return (source for source in sources if source is not None)
