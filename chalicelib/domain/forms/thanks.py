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
    """Return the submission texts of a view with those for the rating.

    Texts that the form does not set for the rating are unchanged.

    Args:
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
