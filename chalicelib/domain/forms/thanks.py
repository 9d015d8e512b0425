"""Choose the texts of the thank-you page by the rating of the submission."""

from collections.abc import Mapping

from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.placeholders import fill
from chalicelib.domain.forms.presentation import Submission
from chalicelib.domain.forms.translation import FormTranslation
from chalicelib.domain.language import Language


def thanks_for(
    form: SavedForm,
    submission: Submission,
    language: Language,
    rating: int | None,
    names: Mapping[str, str],
) -> Submission:
    """Replace the thank-you texts in a view by the form's texts for this rating.

    A text that the form does not define for the rating stays unchanged.

    Args:
        submission: the view's texts, which are shown after the submission.
        names: the values of the placeholders in the texts.
    """
    if rating is None:
        return submission
    matching = [
        (each.min_rating, position)
        for position, each in enumerate(form.thanks)
        if each.min_rating <= rating
    ]
    if not matching:
        return submission
    _, position = max(matching)
    translations = form.translations.get(language, FormTranslation()).thanks
    translated = translations[position] if translations else None
    original = form.thanks[position]
    texts = {
        "title": (translated and translated.title) or original.title,
        "subtitle": (translated and translated.subtitle) or original.subtitle,
    }
    filled = {name: fill(text, names) for name, text in texts.items() if text}
    return submission.model_copy(update=filled)
