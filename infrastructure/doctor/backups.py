"""Check the backups of restores."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from chalicelib.domain import clock
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem
from infrastructure.restore import TEMPORARY_SUFFIX

_RECOVERY: Final = timedelta(days=35)
"""The age up to which point-in-time recovery can restore the tables."""


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
