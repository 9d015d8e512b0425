"""Process the solicitations queue: decide about one survey per message, and send it.

The messages of a batch are processed concurrently.
"""

from contextlib import suppress
from typing import Final

from chalice.app import SQSEvent

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.solicitation.solicitation import SolicitationPointer
from chalicelib.functions.partial_batch import Message, Response, process_batch
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.queues import SOLICITATIONS
from chalicelib.services.solicitation import send_survey as surveys
from chalicelib.services.solicitation.send_survey import SendingOutcome

_LOG_EVENTS: Final = {
    SendingOutcome.SENT: "survey sent",
    SendingOutcome.SKIPPED: "survey skipped",
    SendingOutcome.HELD: "survey held",
    SendingOutcome.DEFERRED: "survey deferred",
    SendingOutcome.REJECTED: "survey rejected",
    SendingOutcome.UNKNOWN: "survey outcome unknown",
    SendingOutcome.PARKED: "survey parked",
    SendingOutcome.TO_BE_RETRIED: "survey rescheduled",
    SendingOutcome.NOTHING_TO_DO: "survey message ignored",
    SendingOutcome.CLAIM_LOST: "survey claim lost",
}
_COUNTED: Final = (
    SendingOutcome.SENT,
    SendingOutcome.SKIPPED,
    SendingOutcome.DEFERRED,
    SendingOutcome.REJECTED,
    SendingOutcome.UNKNOWN,
    SendingOutcome.PARKED,
)
_FAILED: Final = (SendingOutcome.REJECTED, SendingOutcome.UNKNOWN)


def send_survey(event: SQSEvent) -> Response:
    """Decide about the solicitation that each message points to, and send the survey."""
    return process_batch(
        event,
        SOLICITATIONS,
        SolicitationPointer,
        _process,
        run=surveys.send_concurrently,
        min_time_s=surveys.MIN_SOLICITATION_S,
    )


def _process(message: Message[SolicitationPointer]) -> None:
    pointer = message.pointer
    outcome = _send(pointer)
    logger.info(
        _LOG_EVENTS[outcome],
        account_id=pointer.account_id,
        solicitation_id=pointer.solicitation_id,
        outcome=outcome.value,
        **metric_fields(
            "work",
            "solicitation",
            **{counted.value: int(outcome is counted) for counted in _COUNTED},
            failed=int(outcome in _FAILED),
        ),
    )


def _send(pointer: SolicitationPointer) -> SendingOutcome:
    solicitation_id = pointer.solicitation_id
    try:
        return surveys.send_survey(pointer)
    except Unavailable as error:
        logger.warning("database unavailable", solicitation_id=solicitation_id, reason=str(error))
        # A claimed solicitation is not deferred: its outcome is UNKNOWN when the lease ends.
        with suppress(Unavailable):
            surveys.defer(solicitation_id)
        return SendingOutcome.DEFERRED
    except Exception as error:
        logger.exception(
            "survey raised an exception",
            solicitation_id=solicitation_id,
            **metric_fields("work", "solicitation", exceptions=1),
        )
        is_parked = surveys.record_failure(solicitation_id, type(error).__name__)
        return SendingOutcome.PARKED if is_parked else SendingOutcome.TO_BE_RETRIED
