"""Find the texts of a form that have no translation, so that pages can mark their language."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.part import Part
from chalicelib.domain.forms.placeholders import fill
from chalicelib.domain.forms.pre_redirect import PreRedirectTranslation, SurveyTranslation
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.translation import (
    FieldTranslation,
    GroupTranslation,
    TitlesTranslation,
)
from chalicelib.domain.language import Language


def untranslated_texts(
    form: SavedForm, language: Language, names: Mapping[str, str]
) -> Mapping[str, Language]:
    """Return the language of each text of a form that is not translated into this language.

    Args:
        names: the values of the placeholders in the texts.
    """
    return {
        fill(text, names): form.language
        for text, translation in _originals(form, language)
        if text and not translation
    }


def _originals(form: SavedForm, language: Language) -> Iterator[tuple[str, str]]:
    """Yield each text and its translation."""
    texts = form.translations.get(language, SurveyTranslation())
    yield from _texts(form.header, texts.header)
    yield from _texts(form.body, texts.body)
    yield from _texts(form.footer, texts.footer)
    yield from _texts(form.submission, texts.submission)
    for thanks, translated in zip_longest(form.thanks, texts.thanks, fillvalue=TitlesTranslation()):
        yield from _texts(thanks, translated)
    if isinstance(form, SavedSurvey) and form.pre_redirect_config:
        asked = form.translations.get(language, SurveyTranslation()).pre_redirect_config
        yield from _texts(form.pre_redirect_config, asked or PreRedirectTranslation())
    for group in form.field_groups:
        yield from _texts(group, texts.groups.get(group.key, GroupTranslation()))
    for field in form.fields:
        translation = texts.fields.get(field.key, FieldTranslation())
        yield field.label, translation.label
        yield field.placeholder, translation.placeholder
        values = translation.values or [""] * len(field.values)
        yield from zip(field.values, values, strict=True)


def _texts(part: Part, translation: Part) -> Iterator[tuple[str, str]]:
    for name, text in translation:
        original = getattr(part, name)
        if isinstance(text, Part):
            yield from _texts(original, text)
        else:
            yield original, text
