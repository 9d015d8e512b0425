"""Filter feedback."""

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.feedback.daily import DailyGroup
from chalicelib.domain.feedback.feedback import Feedback, FormKind


@dataclass(frozen=True)
class FeedbackFilter:
    """The feedback records to select. An attribute that is None does not restrict the selection.

    Attributes:
        form_id: the id of a contact form.
        survey_id: the id of a survey.
        ratings: the lowest and the highest rating, both included.
        since: the earliest creation time.
        until: the end of the period. Records created at this time are not selected.
        text: a text that one of the answers contains; case is ignored.
    """

    form_id: str | None = None
    survey_id: str | None = None
    store_id: str | None = None
    brand_id: str | None = None
    ratings: tuple[int, int] | None = None
    since: datetime | None = None
    until: datetime | None = None
    language: str | None = None
    text: str | None = None

    def matches(self, feedback: Feedback) -> bool:
        """Return whether the filter selects this record. The index query checks the period."""
        return (
            self.selects(feedback)
            and self.language in (None, str(feedback.language))
            and self._has_rating(feedback.rating)
            and self._contains_text(feedback)
        )

    def selects(self, of: Feedback | DailyGroup) -> bool:
        """Return whether the filter selects the form, the store and the brand."""
        is_survey = of.kind is FormKind.SURVEY
        return (
            self.form_id in (None, None if is_survey else of.form_id)
            and self.survey_id in (None, of.form_id if is_survey else None)
            and self.store_id in (None, of.store_id)
            and self.brand_id in (None, of.brand_id)
        )

    @property
    def selects_all(self) -> bool:
        """Whether the filter selects every record of its period."""
        period = FeedbackFilter(since=self.since, until=self.until)
        return self == period

    def _has_rating(self, rating: int | None) -> bool:
        if self.ratings is None:
            return True
        lowest, highest = self.ratings
        return rating is not None and lowest <= rating <= highest

    def _contains_text(self, feedback: Feedback) -> bool:
        if self.text is None:
            return True
        text = self.text.casefold()
        return any(
            text in value.casefold() for answer in feedback.answers for value in answer.values
        )
