"""Find the texts of a form that have no translation, so that pages can mark their language."""

from collections.abc import Iterator, Mapping

from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.placeholders import fill
from chalicelib.domain.forms.translation import (
    FieldTranslation,
    FormTranslation,
    GroupTranslation,
)
from chalicelib.domain.language import Language


def untranslated_texts(
    form: SavedForm, language: Language, names: Mapping[str, str]
) -> frozenset[str]:
    """Return the texts that are in the language of the form on a page in another language.

    Args:
        names: the values of the placeholders in the texts.
    """
    if language == form.language:
        return frozenset()
    pairs = _originals(form, form.translations.get(language, FormTranslation()))
    return frozenset(fill(text, names) for text, translation in pairs if text and not translation)


def _originals(form: SavedForm, texts: FormTranslation) -> Iterator[tuple[str, str]]:
    """Yield each text and its translation."""
    yield form.header.title, texts.header.title
    yield form.header.subtitle, texts.header.subtitle
    yield form.footer.title, texts.footer.title
    yield form.footer.text, texts.footer.text
    for group in form.field_groups:
        yield group.name, texts.groups.get(group.key, GroupTranslation()).name
    for field in form.fields:
        translation = texts.fields.get(field.key, FieldTranslation())
        yield field.label, translation.label
        yield field.placeholder, translation.placeholder
        values = translation.values or [""] * len(field.values)
        yield from zip(field.values, values, strict=True)
