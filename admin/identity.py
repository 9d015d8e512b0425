"""Identify the operator who runs a command.

The history of an account and the receipt of an erasure contain this identity.
"""

import getpass

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.aws_calls import client_config, count_calls_of
from chalicelib.settings import settings


def operator_identity() -> str:
    """Return the ARN of the operator's AWS identity, or the OS user if STS does not respond.

    One AWS request.
    """
    sts = boto3.client("sts", region_name=settings().region, config=client_config())
    count_calls_of(sts)
    try:
        identity = sts.get_caller_identity()
    except (BotoCoreError, ClientError):
        return f"OS user {getpass.getuser()}"
    return str(identity["Arn"])
