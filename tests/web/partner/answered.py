"""An account with forms whose partner reads the feedback."""

from dataclasses import dataclass

from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.services.feedback.process import process_feedback
from tests.web.partner_client import Partner
from tests.web.seeded_account import SeededAccount


@dataclass(frozen=True)
class Answered(SeededAccount):
    """An account with forms, and a client with its credentials."""

    partner: Partner


def processed(*submitted: Feedback) -> list[str]:
    """Process the feedback in one transaction and return its ids."""
    ids = [record.id for record in submitted]
    process_feedback(ids)
    return ids
