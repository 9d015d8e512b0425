"""Prevent two deployments of a stage at the same time, and deployments of a stopped stage."""

import getpass
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import boto3

from infrastructure.deployment.progress import DeploymentError

_STOPPED = "stopped by "


@contextmanager
def deployment_lock(stage: str) -> Iterator[None]:
    """Hold the lock of a stage during the ``with`` block.

    The lock is a parameter of Systems Manager. It does not expire, because a deployment can wait
    for CloudFormation for hours. AWS creates the parameter only for one of two deployments.

    Raises:
        DeploymentError: another deployment holds the lock, or the stage is stopped.
    """
    _acquire(stage)
    try:
        yield
    finally:
        _release(stage)


def lock_stopped_stage(stage: str) -> None:
    """Hold the lock of a stage until it is started. Do nothing if the stage is stopped already.

    Raises:
        DeploymentError: a deployment holds the lock.
    """
    if not is_stopped(stage):
        _acquire(stage, _STOPPED)


@contextmanager
def start_of_stage(stage: str) -> Iterator[None]:
    """Release the lock of a stopped stage at the end of the ``with`` block, if it succeeds.

    Raises:
        DeploymentError: a deployment holds the lock.
    """
    holder = _holder(stage)
    if holder and not holder.startswith(_STOPPED):
        raise _held(stage, holder)
    yield
    _release(stage)


def is_stopped(stage: str) -> bool:
    """Return whether the stage is locked because it is stopped."""
    return _holder(stage).startswith(_STOPPED)


def _acquire(stage: str, purpose: str = "") -> None:
    client = boto3.client("ssm")
    now = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    holder = f"{purpose}{getpass.getuser()}@{socket.gethostname()}, {now}"
    try:
        client.put_parameter(Name=_name(stage), Value=holder, Type="String", Overwrite=False)
    except client.exceptions.ParameterAlreadyExists:
        raise _held(stage, _holder(stage) or "released in this moment") from None


def _holder(stage: str) -> str:
    client = boto3.client("ssm")
    try:
        return str(client.get_parameter(Name=_name(stage))["Parameter"].get("Value"))
    except client.exceptions.ParameterNotFound:
        return ""


def _release(stage: str) -> None:
    client = boto3.client("ssm")
    with suppress(client.exceptions.ParameterNotFound):
        client.delete_parameter(Name=_name(stage))


def _held(stage: str, holder: str) -> DeploymentError:
    if holder.startswith(_STOPPED):
        return DeploymentError(f"The stage {stage} is {holder}. Start it with stage start.")
    return DeploymentError(
        f"Another deployment of the stage {stage} is running ({holder}). If it was killed,"
        f" delete its lock: aws ssm delete-parameter --name {_name(stage)}"
    )


def _name(stage: str) -> str:
    return f"feedback-{stage}-deployment"
