"""Process the solicitations queue: decide about one survey per message, and send it.

The messages of a batch are processed concurrently.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from chalice.app import SQSEvent

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
        run=_run,
        min_time_s=surveys.MIN_SOLICITATION_S,
    )


def _run(is_done: Callable[[Any], bool], entries: Sequence[Any]) -> list[bool]:
    """Process new messages concurrently, then redelivered messages one by one.

    A redelivered message may have stopped the function. If it does so again, no other message has
    been started that would count this as a failure.
    """
    new = [entry for entry in entries if not (entry[1] and entry[1].is_redelivery)]
    results = dict(zip(map(id, new), surveys.send_concurrently(is_done, new), strict=True))
    return [results[id(entry)] if id(entry) in results else is_done(entry) for entry in entries]


def _process(message: Message[SolicitationPointer]) -> None:
    pointer = message.pointer
    outcome = surveys.attempt_survey(pointer, is_redelivery=message.is_redelivery)
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
