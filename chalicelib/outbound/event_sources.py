"""Read the settings of the event sources that invoke the functions."""

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.aws_calls import aws_client
from chalicelib.log import logger
from chalicelib.time_limits import has_time_for_call


def accepts_partial_batches(queue_arn: str) -> bool:
    """Return whether the event source of a queue is known to accept partial batch responses.

    One AWS request. If it fails, the result is False.
    """
    if not has_time_for_call():
        return False
    try:
        mappings = aws_client("lambda").list_event_source_mappings(EventSourceArn=queue_arn)
    except (ClientError, BotoCoreError) as error:
        logger.warning("event source not read", error=type(error).__name__)
        return False
    response_types = [m.get("FunctionResponseTypes", []) for m in mappings["EventSourceMappings"]]
    return bool(response_types) and all("ReportBatchItemFailures" in t for t in response_types)
