"""Read the settings of the event sources that invoke the functions."""

from functools import cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from chalicelib.aws_calls import client_config, count_calls_of
from chalicelib.log import logger
from chalicelib.settings import settings
from chalicelib.time_limits import has_time_for_call


def accepts_partial_batches(queue_arn: str) -> bool:
    """Return whether the event source of a queue is known to accept partial batch responses.

    One AWS request. If it fails, the result is False.
    """
    if not has_time_for_call():
        return False
    try:
        mappings = _client().list_event_source_mappings(EventSourceArn=queue_arn)
    except (ClientError, BotoCoreError) as error:
        logger.warning("event source not read", error=type(error).__name__)
        return False
    response_types = [m.get("FunctionResponseTypes", []) for m in mappings["EventSourceMappings"]]
    return bool(response_types) and all("ReportBatchItemFailures" in t for t in response_types)


def forget_client() -> None:
    """Discard the cached client. Tests use this to replace the AWS endpoint."""
    _client.cache_clear()


@cache
def _client() -> Any:
    client = get_session().create_client(
        "lambda", region_name=settings().region, config=client_config()
    )
    count_calls_of(client)
    return client
