"""Store the public base URL of the API. Links in messages start with this URL."""

from contextlib import suppress
from typing import Any

import boto3

from chalicelib.storage.stage_values import PARAMETER_NAME


def load(stage: str, client: Any = None) -> str | None:
    """Return the stored base URL. None if the stage has none.

    Args:
        client: a client of Systems Manager. Default: a client in boto3's default region.
    """
    client = client or boto3.client("ssm")
    try:
        parameter = client.get_parameter(Name=f"feedback-{stage}-{PARAMETER_NAME}")["Parameter"]
    except client.exceptions.ParameterNotFound:
        return None
    return str(parameter["Value"])


def store(stage: str, base_url: str) -> str:
    """Store the base URL as a setting of the stage. Return it without a trailing slash."""
    url = base_url.rstrip("/")
    boto3.client("ssm").put_parameter(
        Name=f"feedback-{stage}-{PARAMETER_NAME}", Value=url, Type="String", Overwrite=True
    )
    return url


def delete(stage: str) -> None:
    """Delete the stored base URL, if it exists."""
    client = boto3.client("ssm")
    with suppress(client.exceptions.ParameterNotFound):
        client.delete_parameter(Name=f"feedback-{stage}-{PARAMETER_NAME}")
