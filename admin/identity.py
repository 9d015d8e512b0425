"""Identify the operator who runs a command. The audit of settings contains this identity."""

import getpass

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.settings import settings


def operator_identity() -> str:
    """Return the ARN of the operator's AWS identity, or the OS user if STS does not respond."""
    try:
        identity = boto3.client("sts", region_name=settings().region).get_caller_identity()
    except (BotoCoreError, ClientError):
        return f"OS user {getpass.getuser()}"
    return str(identity["Arn"])
