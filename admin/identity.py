"""Identify the operator who runs a command.

The history of an account and the receipt of an erasure contain this identity.
"""

import getpass

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.aws_calls import aws_client


def operator_identity() -> str:
    """Return the ARN of the operator's AWS identity, or the OS user if STS does not respond.

    One AWS request.
    """
    try:
        identity = aws_client("sts").get_caller_identity()
    except (BotoCoreError, ClientError):
        return f"OS user {getpass.getuser()}"
    return str(identity["Arn"])
