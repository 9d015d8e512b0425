"""Read the purchases, the surveys and the feedback of a customer."""

from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationPointer
from chalicelib.services.solicitation.case import Case, load_case
from chalicelib.storage import feedback, purchases, solicitations


def list_purchases(account_id: str, customer_id: str) -> list[Purchase]:
    """Return the customer's purchases, the latest first. One AWS request, and one per 100."""
    found = purchases.of_customer(account_id, customer_id)
    return sorted(found, key=lambda purchase: purchase.date, reverse=True)


def list_solicitations(account_id: str, customer_id: str) -> list[Solicitation]:
    """Return the customer's solicitations, newest first. One AWS request, and one per 100."""
    found = solicitations.of_customer(account_id, customer_id)
    return sorted(found, key=lambda solicitation: solicitation.created_at, reverse=True)


def list_feedback(account_id: str, customer_id: str) -> list[Feedback]:
    """Return the linked feedback, newest first. One AWS request, and one per 100."""
    found = (stored.feedback for stored in feedback.of_person(account_id, customer_id, ()))
    return sorted(found, key=lambda record: record.created_at, reverse=True)


def load_cases(account_id: str, customer_id: str) -> list[Case]:
    """Return the solicitations of all purchases of a customer with their facts, latest first.

    AWS requests: those of `list_purchases`, and two per purchase.
    """
    pointers = (
        SolicitationPointer(account_id, purchase.id, customer_id)
        for purchase in list_purchases(account_id, customer_id)
    )
    return [case for pointer in pointers if (case := load_case(pointer))]
