"""The question before a survey, and the offer to write a public review instead.

The respondent answers with a GET request, which changes no state. If the respondent continues to
the survey, the answer is preselected in the survey's first field of the same type.
"""

from collections.abc import Iterable
from typing import Final

from chalicelib.domain.forms.fields import SavedField
from chalicelib.domain.forms.pre_redirect import PreRedirectConfig
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.web.pages.fields import DisplayedField, DisplayedOption, control_labels
from chalicelib.web.pages.words import PageWords

SCORE: Final = "score"
"""The query parameter with the answer to the question."""
ASKED: Final = "asked"
"""The query parameter that tells a missing answer from the first display of the question."""
STEP: Final = "step"
"""The query parameter that opens the form although the answer reaches the threshold."""
FORM: Final = "form"


def asked_config(view: PublicSurvey) -> PreRedirectConfig | None:
    """Return the configuration of the question, or None if the survey starts without a question.

    The question is not asked if the survey has no external page to offer.
    """
    if not view.pre_redirect or not is_https_url(view.external_url):
        return None
    return view.pre_redirect_config


def rating_of(config: PreRedirectConfig, score: str | None) -> int | None:
    """Return the rating of an answer to the question, 0 to 10; None if the answer is invalid."""
    return config.field_type.rules.options.get(score or "")


def field_answered_by(config: PreRedirectConfig, fields: Iterable[SavedField]) -> SavedField | None:
    """Return the first of the survey's fields that has the type of the question, or None.

    Args:
        fields: the fields in display order.
    """
    return next((each for each in fields if each.type is config.field_type), None)


def question(config: PreRedirectConfig, words: PageWords, *, is_missing: bool) -> DisplayedField:
    """Return the question as a field.

    Args:
        is_missing: whether the respondent continued without an answer.
    """
    rules, (topic, own) = config.field_type.rules, config.topic_and_labels
    labels, ends = control_labels(rules, own, words)
    return DisplayedField(
        number=0,
        key="q0",
        name=SCORE,
        control=rules.display.control,
        label=topic or config.text.text or words.survey,
        is_required=True,
        options=[DisplayedOption(value, label, False) for value, label in labels.items()],
        ends=ends,
        error=words.errors["choose"] if is_missing else "",
    )
