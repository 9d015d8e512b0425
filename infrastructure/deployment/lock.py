"""Prevent two deployments of a stage at the same time."""

import getpass
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import boto3

from infrastructure.deployment.progress import DeploymentError


@contextmanager
def deployment_lock(stage: str) -> Iterator[None]:
    """Hold the lock of a stage during the ``with`` block.

    The lock is a parameter of Systems Manager. It does not expire, because a deployment can wait
    for CloudFormation for hours. AWS creates the parameter only for one of two deployments.

    Raises:
        DeploymentError: another deployment holds the lock.
    """
    client = boto3.client("ssm")
    name = f"feedback-{stage}-deployment"
    now = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    holder = f"{getpass.getuser()}@{socket.gethostname()}, {now}"
    try:
        client.put_parameter(Name=name, Value=holder, Type="String", Overwrite=False)
    except client.exceptions.ParameterAlreadyExists:
        with suppress(client.exceptions.ParameterNotFound):
            holder = str(client.get_parameter(Name=name)["Parameter"].get("Value"))
        raise DeploymentError(
            f"Another deployment of the stage {stage} is running ({holder}). If it was killed,"
            f" delete its lock: aws ssm delete-parameter --name {name}"
        ) from None
    try:
        yield
    finally:
        with suppress(client.exceptions.ParameterNotFound):
            client.delete_parameter(Name=name)
