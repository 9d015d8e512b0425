"""Determine which fields of a form are visible, depending on the answers.

A field without dependencies is always visible. A dependency compares the answer to another field
with one or more values and combines the comparisons with its operator ($and or $or). The field
combines the results of all its dependencies with its own operator and is visible if the combined
result is true. An answer to a hidden field is ignored.

The dependencies of a saved form contain no cycle, so the fields can be evaluated once, each after
the fields that it depends on (topological order).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Self

from chalicelib.domain.comparison import Combination, evaluate
from chalicelib.domain.forms.fields import FieldDependency, SavedField


@dataclass(frozen=True)
class Condition:
    """The condition under which one field is visible."""

    field_id: str
    combination: Combination
    dependencies: Sequence[FieldDependency]


@dataclass(frozen=True)
class Visibility:
    """The visibility conditions of one form.

    Attributes:
        always_visible: ids of the fields without dependencies.
        conditions: the conditions of the other fields, in topological order.
    """

    always_visible: frozenset[str]
    conditions: Sequence[Condition]

    @classmethod
    def of(cls, fields: Sequence[SavedField], dependencies: Iterable[FieldDependency]) -> Self:
        """Build the conditions of the fields.

        Raises:
            graphlib.CycleError: the dependencies contain a cycle.
        """
        by_field: dict[str, list[FieldDependency]] = {field.id: [] for field in fields}
        for dependency in dependencies:
            by_field[dependency.field].append(dependency)
        order = TopologicalSorter(
            {field: [item.depends_on_field for item in items] for field, items in by_field.items()}
        ).static_order()
        combinations = {field.id: field.operator for field in fields}
        return cls(
            always_visible=frozenset(field for field, items in by_field.items() if not items),
            conditions=[
                Condition(field, combinations[field], by_field[field])
                for field in order
                if by_field[field]
            ],
        )

    def visible_fields(self, answers: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the ids of the visible fields.

        Args:
            answers: the values of each answer, by field id.
        """
        visible = set(self.always_visible)
        for condition in self.conditions:
            if condition.combination.of(
                _is_true(dependency, answers, visible) for dependency in condition.dependencies
            ):
                visible.add(condition.field_id)
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
