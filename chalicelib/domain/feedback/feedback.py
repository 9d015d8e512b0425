"""Feedback: one submission that was taken in, and how far the work on it has come."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from chalicelib.domain import work
from chalicelib.domain.customers.customer import MAX_TEXT, Customer
from chalicelib.domain.customers.pair import CustomerPair, pair_of
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.forms.field_types import RespondentIdentifier
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.domain.schema import Resource, Timestamp


class FormKind(StrEnum):
    """What was answered."""

    CONTACT_FORM = "CONTACT_FORM"
    SURVEY = "SURVEY"


class FeedbackState(StrEnum):
    """How far the work on a feedback has come."""

    PENDING = work.PENDING
    DONE = "DONE"
    PARKED = work.PARKED


SOURCES = {
    FormKind.CONTACT_FORM: DataSource("Site"),
    FormKind.SURVEY: DataSource("Survey"),
}
"""Where feedback comes from, by what was answered."""


class Feedback(Resource):
    """What somebody answered, about what, and when.

    Attributes:
        customer_id: whose it is: the tracker's customer, or the one found by the answers.
        context_id: the tracker, else the store, else the brand, else the form.
        rating: 0 to 10, None when nothing was rated.
        redirect_to: what the respondent was answered.
    """

    id: str
    account_id: str
    kind: Annotated[FormKind, Field(strict=False)]
    form_id: str
    brand_id: str | None = None
    store_id: str | None = None
    tracker_id: str | None = None
    purchase_id: str | None = None
    customer_id: str | None = None
    language: Language
    source: DataSource
    context_id: str
    answers: tuple[Answer, ...]
    rating: int | None
    redirect_to: str = ""
    created_at: Timestamp

    @property
    def email(self) -> str | None:
        """Return the first e-mail address in the answers, or None."""
        return self._first_identifier("email")

    @property
    def phone_number(self) -> str | None:
        """Return the first phone number in the answers; None if it is too long for a customer."""
        number = self._first_identifier("phone_number")
        return number if number and len(number) <= MAX_TEXT else None

    @property
    def pair(self) -> CustomerPair | None:
        """What finds the respondent among the customers; None where a tracker says who it is."""
        return None if self.tracker_id else pair_of(self.email, self.phone_number)

    def respondent(self) -> Customer:
        """The customer that the respondent is, if none is found. The same every time."""
        return Customer(
            id=derived_id(self.id, "customer"),
            created_at=self.created_at,
            updated_at=self.created_at,
            email=self.email,
            phone_number=self.phone_number,
            language=self.language,
            data_sources=(self.source,),
        )

    def _first_identifier(self, identifier: RespondentIdentifier) -> str | None:
        return next(
            (
                answer.values[0]
                for answer in self.answers
                if answer.type.rules.identifies_by == identifier
            ),
            None,
        )


@dataclass(frozen=True)
class FeedbackPointer:
    """What a message says of a feedback: where it is, and whose."""

    account_id: str
    feedback_id: str
