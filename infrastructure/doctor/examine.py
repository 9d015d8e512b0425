"""Run all checks of a stage."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from botocore.exceptions import ClientError

from infrastructure.doctor import (
    backups,
    code,
    drift,
    forms,
    keys,
    message_events,
    monitoring,
    senders,
    support_addresses,
)
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Report, Skipped
from infrastructure.functions import Stage
from infrastructure.functions import stage_named as stage_named


@dataclass(frozen=True)
class Check:
    """One check of a stage.

    Attributes:
        find: a function that yields the problems of a stage. It raises `Skipped` if the check does
            not apply to the stage.
        resources: the property of the deployed stage with the resources that the check reads. If
            there are no such resources, the check is skipped.
        is_emulated: whether the emulator supports the settings that the check reads.
    """

    name: str
    find: Callable[[DeployedStage], Iterator[Problem]]
    resources: Literal["tables"] | None = None
    is_emulated: bool = True


CHECKS: Final = (
    Check("drift", drift.check_drift),
    Check("functions", code.check_functions),
    Check("event sources", code.check_event_sources),
    Check("gateway limits", code.check_throttling),
    Check("backups", backups.check_backups, "tables"),
    Check("alarm recipients", monitoring.check_recipients),
    Check("public address", senders.check_public_address),
    Check("senders", senders.check_senders),
    Check("forms", forms.check_forms, "tables"),
    Check("support addresses", support_addresses.check_support_addresses, "tables"),
    Check("keys", keys.check_keys, "tables"),
    Check("message events", message_events.check_topic),
    Check("notifications", message_events.check_notifications),
    Check("notification headers", message_events.check_headers, is_emulated=False),
    Check("authentication", senders.check_authentication, is_emulated=False),
    Check("reputation", senders.check_reputation, is_emulated=False),
    Check("text messages", senders.check_text_messages, is_emulated=False),
    Check("clock", monitoring.check_clock),
)

_NOT_EMULATED: Final = "The emulator does not support these settings."
_NO_RESOURCES: Final = "The resources to check do not exist."
_NOT_ALLOWED: Final = (
    "Allow your identity this action (docs/runbook.md, Checking a deployment), and run the"
    " command again."
)


def examine(stage: Stage, on_check: Callable[[], None] = lambda: None) -> Report:
    """Run all checks of the stage.

    Args:
        on_check: called after each check.
    """
    deployed, report = DeployedStage(stage), Report()
    for check in CHECKS:
        try:
            problems = run(check, deployed)
        except Skipped as reason:
            report.skipped[check.name] = str(reason)
        else:
            if problems:
                report.problems[check.name] = problems
            else:
                report.passed.append(check.name)
        on_check()
    return report


def run(check: Check, deployed: DeployedStage) -> list[Problem]:
    """Run one check. A request that AWS denies is a problem too.

    Raises:
        Skipped: the check does not apply to the stage, or cannot run.
    """
    is_emulator = bool(os.environ.get("AWS_ENDPOINT_URL"))
    if is_emulator and not check.is_emulated:
        raise Skipped(_NOT_EMULATED)
    try:
        if check.resources and not getattr(deployed, check.resources):
            raise Skipped(_NO_RESOURCES)
        return list(check.find(deployed))
    except ClientError as error:
        if is_emulator:
            raise Skipped(f"The emulator returned an error: {error}") from error
        return [Problem(check.name, f"Cannot be checked: {error}", _NOT_ALLOWED)]
