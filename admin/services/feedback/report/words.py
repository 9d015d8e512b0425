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

from admin.services.feedback.report.changes import Verdict
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
        self._interval = _("Between %(low)s and %(high)s with %(percent)s certainty")
        self.changed = _("What changed")
        self.in_total = _("In total")
        self.verdicts = {
            Verdict.WORSE: _("Clearly worse"),
            Verdict.BETTER: _("Clearly better"),
            Verdict.GONE: _("No more answers"),
            Verdict.NEW: _("New"),
            Verdict.CHANCE: _("May be chance"),
            Verdict.FEW: _("Too few answers"),
        }
        self.nothing_clear = _("Nothing changed clearly.")
        self.mix = _(
            "The total moved the other way, because the answers are now divided differently."
        )
        self.more_frequent = _("More frequent answers")
        self._from = _("From %(n)s of %(total)s responses")
        chance = _("Chance alone makes a change clear in at most %(percent)s of reports.")
        self.chance_note = chance % {"percent": self.percent(0.05)}
        self.attached = _("The complete report is attached.")
        self.rate_note = _(
            "The response rate is the share of the surveys sent in this period that have been"
            " answered so far."
        )
        self.no_tests = _("Test responses are not included.")
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

    def interval(self, low: float | None, high: float | None) -> str:
        """Return the note with the confidence interval of a score."""
        ends = {"low": self.signed(low), "high": self.signed(high)}
        return self._interval % {**ends, "percent": self.percent(0.95)}

    def read(self, number: int, total: int) -> str:
        """Return the note with the number of responses that were read."""
        return self._from % {"n": self.number(number), "total": self.number(total)}

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

    def signed(self, number: float | None, *, is_whole: bool = True) -> str:
        """Return a number, whole or with two decimals, with its sign."""
        return self._signed(number, "#,##0" if is_whole else "#,##0.00")

    def _signed(self, number: float | None, form: str) -> str:
        """Return a rounded number with its sign; a number that is rounded to zero has no sign."""
        if number is None:
            return NOTHING
        text = format_decimal(number, f"+{form};\N{MINUS SIGN}{form}", self._locale)
        is_zero = not any(digit in text for digit in "123456789")
        # The mark keeps the sign to the left of the number in texts from right to left.
        return text[1:] if is_zero else "\u200e" * self.is_right_to_left + text

    def growth(self, share: float | None) -> str:
        """Return a relative change as a whole percentage with its sign."""
        return self._signed(share, self._locale.percent_formats[None].pattern)

    def day(self, day: date) -> str:
        """Return a date."""
        return format_date(day, "medium", self._locale)

    def short_day(self, day: date) -> str:
        """Return a date without the year."""
        return format_skeleton("MMMd", day, locale=self._locale)

    def days(self, first: date, last: date) -> str:
        """Return a period."""
        return format_interval(first, last, "yMMMMd", locale=self._locale)
