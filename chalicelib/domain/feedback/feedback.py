"""Feedback records: accepted submissions, with the data that their processing needs."""

from dataclasses import dataclass

from chalicelib.domain.customers.addresses import CustomerPair, pair_of
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.forms.field_types import RespondentIdentifier
from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.domain.schema import MAX_TEXT, Choice, Resource, Timestamp


class FormKind(Choice):
    """Kind of the form that was submitted."""

    CONTACT_FORM = "CONTACT_FORM"
    SURVEY = "SURVEY"


SOURCES = {
    FormKind.CONTACT_FORM: DataSource("Site"),
    FormKind.SURVEY: DataSource("Survey"),
}
"""Data source of a feedback record, by kind of form."""


class Feedback(Resource):
    """An accepted submission.

    Attributes:
        customer_id: the tracker's customer, or the customer that matches the answers.
        context_id: id of the tracker, store, brand or form: the first one that is set, in this
            order.
        rating: from 0 to 10; None if there is no rating.
        is_anonymized: whether the answers were anonymized. Only ratings remain.
        had_tracker: whether the submission had a tracker that an erasure removed.
        form_version: the version of the form that validated the answers.
        displayed_version: the version that the respondent's page named, if it is another one. It
            may not exist.
        labels: the labels of the link, by name; see `labels`.
        redirect_to: URL of the review page that the respondent is redirected to; ``""`` if there is
            none.
        is_partial: whether the respondent tapped these answers but did not send the form.
    """

    id: str
    account_id: str
    kind: FormKind
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
    form_version: str
    displayed_version: str | None = None
    labels: dict[str, str] = {}
    redirect_to: str = ""
    is_anonymized: bool = False
    had_tracker: bool = False
    is_partial: bool = False
    created_at: Timestamp

    @property
    def email(self) -> str | None:
        """Return the first e-mail address in the answers, or None."""
        return self._first_identifier("email")

    @property
    def phone_number(self) -> str | None:
        """Return the first phone number in the answers, or None.

        A number that exceeds the length limit of a customer's phone number is ignored.
        """
        number = self._first_identifier("phone_number")
        return number if number and len(number) <= MAX_TEXT else None

    @property
    def pair(self) -> CustomerPair | None:
        """The pair of e-mail and phone number that identifies the respondent.

        None if the answers contain neither, or if a tracker already identifies the customer.
        """
        return None if self.tracker_id else self.answered_pair

    @property
    def is_solicited(self) -> bool:
        """Whether the respondent answered a survey through a tracker."""
        return self.tracker_id is not None or self.had_tracker

    @property
    def answered_pair(self) -> CustomerPair | None:
        """The pair of e-mail and phone number in the answers, or None."""
        return pair_of(self.email, self.phone_number)

    def anonymized(self) -> "Feedback":
        """Return the feedback with only the answers that are ratings, and without labels."""
        ratings = tuple(answer for answer in self.answers if answer.type.rules.is_rating)
        return self.model_copy(update={"answers": ratings, "labels": {}, "is_anonymized": True})

    def without_person(self) -> "Feedback":
        """Return the anonymized feedback without its links to the customer."""
        context_id = self.context_id
        if context_id == self.tracker_id:
            context_id = self.store_id or self.brand_id or self.form_id
        unlinked = {
            "customer_id": None,
            "purchase_id": None,
            "tracker_id": None,
            "context_id": context_id,
            "had_tracker": self.is_solicited,
        }
        return self.anonymized().model_copy(update=unlinked)

    def _first_identifier(self, identifier: RespondentIdentifier) -> str | None:
        return next(
            (
                answer.values[0]
                for answer in self.answers
                if answer.type.rules.identifies_by == identifier
            ),
            None,
        )


def feedback_id_of(tracker_id: str) -> str:
    """Return the id of the only feedback that a tracker can have."""
    return derived_id(tracker_id, "feedback")


@dataclass(frozen=True)
class FeedbackPointer:
    """The content of a queue message: the ids of a feedback record and of the record's account."""

    account_id: str
    feedback_id: str
