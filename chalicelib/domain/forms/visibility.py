"""Which fields of a form are shown, given what was answered.

A field without dependencies is always shown. Any other is shown when its dependencies, combined by
its operator, hold; a dependency holds when its comparisons with the deciding field's answer,
combined by its own operator, do. A hidden field counts as unanswered for those that depend on it.

A saved form has no cycles, so deciding each field after those it depends on reaches the one
assignment in which nothing changes any more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Self

from chalicelib.domain.comparison import Combination, evaluate
from chalicelib.domain.forms.fields import FieldDependency, SavedField


@dataclass(frozen=True)
class _Condition:
    field_id: str
    combination: Combination
    dependencies: Sequence[FieldDependency]


@dataclass(frozen=True)
class Visibility:
    """The conditions of one form, ready to be judged for any answers.

    Attributes:
        always: the fields that depend on nothing.
        conditions: those of the other fields, each after those of the fields it depends on.
    """

    always: frozenset[str]
    conditions: Sequence[_Condition]

    @classmethod
    def of(cls, fields: Sequence[SavedField], dependencies: Iterable[FieldDependency]) -> Self:
        """The conditions of these fields.

        Raises:
            graphlib.CycleError: a field depends on itself.
        """
        deciding: dict[str, list[FieldDependency]] = {field.id: [] for field in fields}
        for dependency in dependencies:
            deciding[dependency.field].append(dependency)
        order = TopologicalSorter(
            {field: [item.depends_on_field for item in items] for field, items in deciding.items()}
        ).static_order()
        combination = {field.id: field.operator for field in fields}
        return cls(
            always=frozenset(field for field, items in deciding.items() if not items),
            conditions=[
                _Condition(field, combination[field], deciding[field])
                for field in order
                if deciding[field]
            ],
        )

    def visible_fields(self, answers: Mapping[str, Sequence[str]]) -> set[str]:
        """The ids of the fields that are shown, given the values answered to each field."""
        visible = set(self.always)
        for condition in self.conditions:
            if condition.combination.of(
                _holds(dependency, answers, visible) for dependency in condition.dependencies
            ):
                visible.add(condition.field_id)
        return visible


def _holds(
    dependency: FieldDependency, answers: Mapping[str, Sequence[str]], visible: set[str]
) -> bool:
    deciding = dependency.depends_on_field
    given = answers.get(deciding, ()) if deciding in visible else ()
    return dependency.operator.of(
        evaluate(expected.operator, given, expected.value)
        for expected in dependency.depends_on_field_values
    )
