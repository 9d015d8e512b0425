"""The words and formats of reports, in the language of the report.

All source strings are in this module, in English, as calls of gettext functions. Pages have the
same catalogues (`infrastructure/catalogues`), compiled without these messages.
"""

import gettext
from collections.abc import Callable
from datetime import date
from typing import Final

from babel import Locale
from babel.dates import format_date, format_interval, format_skeleton
from babel.numbers import format_decimal, format_percent

from admin.services.feedback.report.languages import LOCALES
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.option_words import option_words_in
from chalicelib.domain.language import Language, is_right_to_left

DOMAIN: Final = "report"
NOTHING: Final = "–"
"""The text of a missing value."""


class ReportWords:
    """The words and formats of a report in one language."""

    def __init__(self, language: Language) -> None:
        name = str(language).replace("-", "_")
        _ = gettext.translation(DOMAIN, LOCALES, [name], fallback=True).gettext
        self.language = language
        self._locale = Locale.parse({"en": "en_GB"}.get(name, name))
        self.title = _("Feedback report")
        self.previous = _("Previous period")
        self._previous_value = _("Previous period: %(value)s")
        self.responses = _("Responses")
        self.response_rate = _("Response rate")
        self.mean_rating = _("Mean rating")
        self._sent_and_answered = _("Surveys sent: %(sent)s, answered: %(answered)s")
        self.bands = (_("Detractors"), _("Passives"), _("Promoters"))
        self.score = _("The score is the share of promoters minus the share of detractors.")
        self.few = self._counted(_("There is no score for fewer than %(n)s answers."))
        self.answers = self._counted(_("Answers: %(n)s"))
        self.share = _("Share")
        self.ratings = _("Ratings")
        self._rating = _("Rating %(rating)s")
        self.weeks = _("Weeks")
        self.incomplete = _("The first and the last week can be incomplete.")
        self.stores = _("Stores")
        self.no_store = _("No particular place")
        self.forms = _("Forms")
        self.deleted = _("Deleted")
        self.change = _("Change")
        self.sent = _("Surveys sent")
        self.comments = _("Comments")
        self.comments_note = _("The newest comments, unchanged. They can contain personal data.")
        interval = _("%(percent)s: confidence interval of the score.")
        self.interval_note = interval % {"percent": self.percent(0.95)}
        self.rate_note = _(
            "The response rate is the share of the surveys sent in this period that have been"
            " answered so far."
        )
        self.no_tests = _("Test responses are not included.")
        self.newest = self._counted(
            _("Questions and comments are from the newest %(n)s responses.")
        )
        labels = option_words_in(language).labels
        stars = {FieldType.CSAT_STAR: {str(n): "★" * n for n in range(1, 6)}}
        self.option_names = {kind: labels(kind.rules) for kind in FieldType} | stars

    @property
    def is_right_to_left(self) -> bool:
        """Whether the report is read from right to left."""
        return is_right_to_left(self.language)

    def previous_value(self, value: str) -> str:
        """Return the note with a value of the previous period."""
        return self._previous_value % {"value": value}

    def sent_and_answered(self, sent: int, answered: int) -> str:
        """Return the note of the response rate."""
        return self._sent_and_answered % {
            "sent": self.number(sent),
            "answered": self.number(answered),
        }

    def _counted(self, text: str) -> Callable[[int], str]:
        return lambda n: text % {"n": self.number(n)}

    def rating(self, rating: str) -> str:
        """Return a rating, or a range of ratings, with its name."""
        return self._rating % {"rating": rating}

    def number(self, number: int) -> str:
        """Return a number with the group separators of the language."""
        return format_decimal(number, locale=self._locale)

    def decimal(self, number: float | None) -> str:
        """Return a number with two decimals."""
        return NOTHING if number is None else format_decimal(number, "#,##0.00", self._locale)

    def percent(self, share: float | None) -> str:
        """Return a share from 0 to 1 as a whole percentage."""
        return NOTHING if share is None else format_percent(share, locale=self._locale)

    def signed(self, number: float | None, form: str = "#,##0") -> str:
        """Return a rounded number with its sign; a number that is rounded to zero has no sign."""
        if number is None:
            return NOTHING
        text = format_decimal(number, f"+{form};\u2212{form}", self._locale)
        is_zero = not any(digit in text for digit in "123456789")
        # The mark keeps the sign to the left of the number in texts from right to left.
        return text[1:] if is_zero else "\u200e" * self.is_right_to_left + text

    def growth(self, share: float | None) -> str:
        """Return a relative change as a whole percentage with its sign."""
        return self.signed(share, self._locale.percent_formats[None].pattern)

    def day(self, day: date) -> str:
        """Return a date."""
        return format_date(day, "medium", self._locale)

    def short_day(self, day: date) -> str:
        """Return a date without the year."""
        return format_skeleton("MMMd", day, locale=self._locale)

    def days(self, first: date, last: date) -> str:
        """Return a period."""
        return format_interval(first, last, "yMMMMd", locale=self._locale)
