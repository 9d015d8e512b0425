"""The texts of a field's options: labels of the form, or default labels of fixed options."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.fields import FieldTraits
from chalicelib.domain.forms.translation import FieldTranslation

if TYPE_CHECKING:
    from chalicelib.domain.forms.option_words import OptionWords


def translated_values(values: list[str], translations: list[str]) -> list[str]:
    """Return the translated values. A value without a translation is unchanged."""
    if not translations:
        return values
    return [text or value for value, text in zip(values, translations, strict=True)]


def own_labels(field: FieldTraits, translation: FieldTranslation) -> list[str]:
    """Return the labels of the form for the fixed options of a field, or for both ends of a scale.

    Empty if the number of the field's `values` is not the number of labels of its type.
    """
    labels = translated_values(field.values, translation.values)
    return labels if len(labels) == field.type.rules.labels else []


def named_options(kind: FieldType, values: Sequence[str]) -> Sequence[str]:
    """Return the valid answers whose texts are the `values` of a field, in the same order.

    Empty if there are none, for example because `values` contains the labels of both ends of a
    scale.
    """
    if kind.rules.options_from_field:
        return values
    options = kind.rules.options
    return list(options) if len(values) == kind.rules.labels == len(options) else ()


def option_texts(
    field: FieldTraits, translation: FieldTranslation, words: "OptionWords"
) -> Mapping[str, str]:
    """Return the text of each valid value of a field that has fixed options."""
    if options := named_options(field.type, field.values):
        return dict(zip(options, own_labels(field, translation), strict=True))
    texts = dict(words.labels(field.type.rules))
    ends = scale_ends(field, translation, words)
    if any(ends):
        values = list(texts)
        for value, end in zip((values[0], values[-1]), ends, strict=True):
            texts[value] = f"{value} – {end}"
    return texts


def scale_ends(
    field: FieldTraits, translation: FieldTranslation, words: "OptionWords"
) -> Sequence[str]:
    """Return the labels of both ends of a scale, and empty texts for another field."""
    ends = field.type.rules.display.ends
    return (own_labels(field, translation) if ends else []) or words.ends[ends]
