"""Arrange the fields of a form in display order: the order in which a page displays them.

A section is a field group, or one row of fields that belong to no group. Groups are sorted by
their vertical index, and rows without a group by the vertical index of the row. A row without a
group precedes a group if the row has a smaller vertical index than all fields of the group.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from chalicelib.domain.forms.fields import SavedField, SavedFieldGroup
from chalicelib.domain.forms.form import SavedForm

if TYPE_CHECKING:
    from chalicelib.domain.forms.public.form import PublicFieldGroup


@dataclass(frozen=True)
class Section:
    """A part of a form.

    Attributes:
        name: the name of the group; ``""`` for a row without a group.
        rows: rows of fields that are displayed side by side.
    """

    name: str
    rows: Sequence[Sequence[SavedField]]

    @property
    def first_row(self) -> int:
        """The vertical index of the first row."""
        return self.rows[0][0].vertical_index


def fields_in_order(form: SavedForm) -> list[SavedField]:
    """Return the fields of a saved form in display order."""
    sections = sections_of(form.fields, form.field_groups)
    return [field for section in sections for row in section.rows for field in row]


def sections_of(
    fields: Sequence[SavedField], groups: Sequence["SavedFieldGroup | PublicFieldGroup"]
) -> list[Section]:
    """Return the sections of a form in display order: one for each group that has fields."""
    ordered = sorted(groups, key=lambda group: group.vertical_index)
    named = [
        Section(group.name, rows)
        for group in ordered
        if (rows := _rows([field for field in fields if field.group == group.id]))
    ]
    known = {group.id for group in groups}
    loose = [Section("", [row]) for row in _rows([f for f in fields if f.group not in known])]
    return list(_merge(loose, named))


def _rows(fields: Sequence[SavedField]) -> list[list[SavedField]]:
    ordered = sorted(fields, key=lambda field: (field.vertical_index, field.horizontal_index))
    return [list(row) for _, row in groupby(ordered, key=lambda field: field.vertical_index)]


def _merge(loose: list[Section], named: list[Section]) -> Iterator[Section]:
    remaining = list(loose)
    for group in named:
        while remaining and remaining[0].first_row < group.first_row:
            yield remaining.pop(0)
        yield group
    yield from remaining
