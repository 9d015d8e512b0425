"""The columns of an export.

First come properties of the feedback, then one column per field, and then the answers and wordings
that fit in no column.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from admin.services.forms.manage import AccountForm
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.layout import fields_in_order
from chalicelib.domain.forms.wording import Answer, FormWording

Cell = str | int | float | bool | date | datetime | list[str] | Mapping[str, str | list[str]] | None
"""The value of a cell.

A list contains the values of one answer. A mapping contains the values of several answers by field
key, or labels by name.
"""

_MAX_EXACT_DIGITS: Final = 15


@dataclass(frozen=True)
class Column:
    """A column of an export.

    Attributes:
        title: the title, which is unique in the export.
        value_of: returns the value of the cell for a feedback record; None for an empty cell.
    """

    title: str
    value_of: Callable[[StoredFeedback], Cell]


def build_columns(
    forms: Sequence[AccountForm],
    directory: Directory,
    zone: ZoneInfo,
    wording_of: Callable[[Feedback], FormWording],
) -> list[Column]:
    """Return the columns of an export of feedback of these forms.

    Args:
        wording_of: returns the wording of the form that the respondent saw.
    """
    names = {form.saved.id: form.saved.name for form in forms}
    fields = {
        (form.saved.id, field.id): field for form in forms for field in fields_in_order(form.saved)
    }

    def other_answers(stored: StoredFeedback) -> Cell:
        record = stored.feedback
        others = {
            answer.key: answer.values
            for answer in record.answers
            if not _is_of(fields.get((record.form_id, answer.field_id)), answer)
        }
        return others or None

    def other_wording(stored: StoredFeedback) -> Cell:
        record, wording = stored.feedback, wording_of(stored.feedback)
        others = {}
        for seen in wording.of_answers(record.answers, record.language):
            answer, field = seen.answer, fields.get((record.form_id, seen.answer.field_id))
            if [field.label if field else answer.key, *answer.values] != seen.texts:
                others[answer.key] = seen.texts
        return others or None

    columns = [
        Column("id", lambda stored: stored.feedback.id),
        Column("createdAt", lambda stored: stored.feedback.created_at.astimezone(zone)),
        Column("kind", lambda stored: stored.feedback.kind.value),
        Column("formId", lambda stored: stored.feedback.form_id),
        Column("formName", lambda stored: names.get(stored.feedback.form_id)),
        Column("brandId", lambda stored: stored.feedback.brand_id),
        Column("brandName", lambda stored: _name(directory, stored.feedback.brand_id)),
        Column("storeId", lambda stored: stored.feedback.store_id),
        Column("storeName", lambda stored: _name(directory, stored.feedback.store_id)),
        Column("language", lambda stored: stored.feedback.language.value),
        Column("source", lambda stored: stored.feedback.source.value),
        Column("rating", lambda stored: stored.feedback.rating),
        Column("customerId", lambda stored: stored.feedback.customer_id),
        Column("purchaseId", lambda stored: stored.feedback.purchase_id),
        Column("trackerId", lambda stored: stored.feedback.tracker_id),
        Column("labels", lambda stored: stored.feedback.labels or None),
        Column("isTest", lambda stored: stored.is_test),
        Column("isPartial", lambda stored: stored.feedback.is_partial),
    ]
    for (form_id, field_id), field in fields.items():
        several = ", several" if field.type.rules.accepts_several_values else ""
        prefix = f"{names[form_id]}: " if len(forms) > 1 else ""
        title = f"{prefix}{field.label or field.key} [{field.key}{several}]"
        columns.append(Column(title, _answer_to(form_id, field_id, field.type)))
    columns += [Column("otherAnswers", other_answers), Column("otherWording", other_wording)]
    return _with_unique_titles(columns)


def _name(directory: Directory, place_id: str | None) -> str | None:
    return directory.name_of(place_id) if place_id else None


def _is_of(field: object, answer: Answer) -> bool:
    return getattr(field, "type", None) is answer.type


def _answer_to(form_id: str, field_id: str, kind: FieldType) -> Callable[[StoredFeedback], Cell]:
    def value_of(stored: StoredFeedback) -> Cell:
        if stored.feedback.form_id != form_id:
            return None
        for answer in stored.feedback.answers:
            if answer.field_id == field_id and answer.type is kind:
                return _cell(answer)
        return None

    return value_of


def _cell(answer: Answer) -> Cell:
    if answer.type.rules.accepts_several_values:
        return answer.values
    (text,) = answer.values
    return _TYPED.get(answer.type, str)(text)


def _number(text: str) -> Cell:
    """Convert a text to a number. Return the text if the number would lose a part of the text."""
    try:
        number = int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        return text
    return number if str(number) == text and len(text) <= _MAX_EXACT_DIGITS else text


_TYPED: Final[dict[FieldType, Callable[[str], Cell]]] = {
    FieldType.NUMBER: _number,
    FieldType.NPS: _number,
    FieldType.RATING: _number,
    FieldType.CSAT_STAR: _number,
    FieldType.CSAT_SMILEY: _number,
    FieldType.DATE: date.fromisoformat,
}


def _with_unique_titles(columns: Iterable[Column]) -> list[Column]:
    """Number the titles that occur several times: ``Why? [why]``, ``Why? [why] (2)``."""
    used: set[str] = set()
    unique: list[Column] = []
    for column in columns:
        title, number = column.title, 1
        while title in used:
            number += 1
            title = f"{column.title} ({number})"
        used.add(title)
        unique.append(Column(title, column.value_of))
    return unique
