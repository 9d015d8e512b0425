"""Deliver queued feedback messages to the function."""

from typing import Final

from chalicelib.functions.process_feedback import process_feedback
from tests.services.queue_by_hand import QueueByHand

_QUEUE: Final = QueueByHand("feedback", process_feedback)
queued_messages = _QUEUE.queued_messages
deliver = _QUEUE.deliver
