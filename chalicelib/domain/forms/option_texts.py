"""The texts of a field's options: labels of the form, or default labels of fixed options."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chalicelib.domain.forms.field_types import AnswerRules, FieldType
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


def control_texts(
    rules: AnswerRules, own: Sequence[str], words: "OptionWords"
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the label of each fixed option, and the labels of both ends of a scale.

    The ends are empty texts for another control.

    Args:
        own: the labels of the form. If one is empty or there are none, the default labels apply.
    """
    labels, ends = words.labels(rules), words.ends[rules.display.ends]
    if rules.display.ends:
        return labels, _filled(own, ends)
    return dict(zip(labels, _filled(own, tuple(labels.values())), strict=True)), ends


def _filled(own: Sequence[str], defaults: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text or label for text, label in zip(own or defaults, defaults, strict=True))


def option_texts(
    field: FieldTraits, translation: FieldTranslation, words: "OptionWords"
) -> Mapping[str, str]:
    """Return the text of each valid value of a field that has fixed options."""
    labels, ends = control_texts(field.type.rules, own_labels(field, translation), words)
    texts = dict(labels)
    if any(ends):
        values = list(texts)
        for value, end in zip((values[0], values[-1]), ends, strict=True):
            texts[value] = f"{value} – {end}"
    return texts
