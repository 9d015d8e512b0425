"""Determine which fields of a form are visible, depending on the answers.

A field without dependencies is always visible. A dependency compares the answer to another field
with one or more values and combines the comparisons with its operator ($and or $or). The field
combines the results of all its dependencies with its own operator and is visible if the combined
result is true. An answer to a hidden field is ignored.

The dependencies of a saved form contain no cycle, so the fields can be evaluated once, each after
the fields that it depends on (topological order).
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from chalicelib.domain.comparison import evaluate
from chalicelib.domain.forms.fields import FieldDependency, SavedField

Conditions = Sequence[tuple[SavedField, Sequence[FieldDependency]]]
"""The fields of a form in topological order, each with its dependencies."""


def conditions_of(
    fields: Iterable[SavedField], dependencies: Iterable[FieldDependency]
) -> Conditions:
    """Return the conditions under which the fields are visible.

    Raises:
        graphlib.CycleError: the dependencies contain a cycle.
    """
    by_id = {field.id: field for field in fields}
    by_field: dict[str, list[FieldDependency]] = {field_id: [] for field_id in by_id}
    for dependency in dependencies:
        by_field[dependency.field].append(dependency)
    order = TopologicalSorter(
        {field: [item.depends_on_field for item in items] for field, items in by_field.items()}
    ).static_order()
    return [(by_id[field_id], by_field[field_id]) for field_id in order]


def visible_fields(conditions: Conditions, answers: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the ids of the visible fields.

    Args:
        answers: the values of each answer, by field id.
    """
    visible: set[str] = set()
    for field, dependencies in conditions:
        if not dependencies or field.operator.of(
            _is_true(dependency, answers, visible) for dependency in dependencies
        ):
            visible.add(field.id)
    return visible


def _is_true(
    dependency: FieldDependency, answers: Mapping[str, Sequence[str]], visible: set[str]
) -> bool:
    other = dependency.depends_on_field
    values = answers.get(other, ()) if other in visible else ()
    return dependency.operator.of(
        evaluate(expected.operator, values, expected.value)
        for expected in dependency.depends_on_field_values
    )
