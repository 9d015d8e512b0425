"""Process the message-events queue: the bounces and complaints that SES publishes.

If an e-mail is unknown by its id and by its signed header, the queue redelivers the message. At its
last receive, the message is dropped: the service did not send the e-mail, or the headers are
missing.
"""

from typing import Any

from chalice.app import SQSEvent

from chalicelib.domain.solicitation.message_events import parse_message_event
from chalicelib.functions.partial_batch import Record, Response
from chalicelib.log import logger
from chalicelib.queues import MAX_RECEIVES
from chalicelib.services.solicitation.process_message_event import process_message_event
from chalicelib.time_limits import MIN_WORK_S, WORK_RETRY_S, invocation, time_left_s


def process_message_events(event: SQSEvent) -> Response:
    """Process each message. Return a partial batch response that lists the messages to redeliver.

    Invalid messages fail, so that the queue moves them to the dead-letter queue.
    """
    with invocation(event.context, retry_s=WORK_RETRY_S, reserve_s=MIN_WORK_S):
        failed = [
            record["messageId"]
            for record in event.to_dict()["Records"]
            if time_left_s() < MIN_WORK_S or not _is_done(record)
        ]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _is_done(record: Record) -> bool:
    fields: dict[str, Any] = {"message_id": record["messageId"]}
    try:
        event = parse_message_event(record["body"])
    except ValueError:
        logger.error("invalid message", **fields)
        return False
    if event is None:
        return True
    fields |= {"provider_id": event.message_id, "reason": event.reason.value}
    try:
        sent = process_message_event(event)
    except Exception:
        logger.exception("message failed", **fields)
        return False
    if sent:
        logger.info(
            "address suppressed",
            account_id=sent.account_id,
            solicitation_id=sent.solicitation_id,
            **fields,
        )
        return True
    is_last_receive = _receive_count(record) >= MAX_RECEIVES
    logger.info("message event of unknown e-mail", dropped=is_last_receive, **fields)
    return is_last_receive


def _receive_count(record: Record) -> int:
    return int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
