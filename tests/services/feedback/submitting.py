"""Submit feedback through the services and read the resulting customers."""

from typing import Any

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.paging import PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.services.customers.read import list_customers
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    submit_feedback,
)
from tests.web.seeded_account import SeededAccount


def answer_contact_form(seeded: SeededAccount, **answers: str) -> Feedback:
    body = {"id": seeded.contact_form_id, "fields": seeded.answers(**answers)}
    return submit_feedback(parse(body, ContactFormSubmission), SubmissionMetadata())


def answer_survey(
    seeded: SeededAccount, tracker: str | None = None, key: str | None = None, **answers: str
) -> Feedback:
    body: dict[str, Any] = {"id": seeded.survey_id, "fields": seeded.answers(**answers)}
    if tracker:
        body |= {"id": seeded.private_survey_id, "tracker": tracker}
    metadata = SubmissionMetadata(idempotency_key=key)
    return submit_feedback(parse(body, SurveySubmission), metadata)


def respondents(seeded: SeededAccount) -> list[Customer]:
    """Return the customers of the account, without the customer that the fixture creates."""
    page = list_customers(seeded.account_id, PageRequest(limit=100))
    assert page.meta.total_items == len(page.items)
    return [customer for customer in page.items if customer.id != seeded.customer_id]
