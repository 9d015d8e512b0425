"""Resolve references between the parts of a form definition. A reference is an id or a key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from admin.domain.forms.form import (
    FieldDependencyDefinition,
    FormDefinition,
    KeyedPart,
)
from chalicelib.domain.ids import derived_id, parse_id


@dataclass(frozen=True)
class Names:
    """Ids and keys of a form's fields or of its groups, in the order of the definition.

    Attributes:
        ids: the id of each part: the id in the definition, or an id derived from the key.
        keys: the key of each part; for a part without a key, the part's id.
    """

    ids: Sequence[str]
    keys: Sequence[str]

    @classmethod
    def of(cls, form_id: str, kind: str, parts: Iterable[KeyedPart]) -> Self:
        """Collect the ids and keys of the parts.

        An omitted id is derived from the form's id, the kind and the part's key.

        Args:
            kind: the kind of the parts: ``"field"`` or ``"group"``.
        """
        ids: list[str] = []
        keys: list[str] = []
        for position, part in enumerate(parts):
            ids.append(part.id or derived_id(form_id, kind, part.key or f"#{position}"))
            keys.append(part.key or ids[-1])
        return cls(ids, keys)

    def find(self, reference: str) -> str | None:
        """Return the id of the part with this id or key, or None."""
        return self._ids_by_name.get(parse_id(reference) or "") or self._ids_by_name.get(reference)

    @cached_property
    def _ids_by_name(self) -> dict[str, str]:
        return dict(zip(self.keys, self.ids, strict=True)) | {part: part for part in self.ids}


@dataclass(frozen=True)
class References:
    """Ids and keys of the fields and groups of one form definition."""

    form_id: str
    fields: Names
    groups: Names

    @classmethod
    def of(cls, definition: FormDefinition) -> Self:
        """Collect the ids and keys of the definition's fields and groups."""
        return cls(
            definition.id,
            Names.of(definition.id, "field", definition.fields),
            Names.of(definition.id, "group", definition.field_groups),
        )

    def dependency_ids(self, dependencies: Iterable[FieldDependencyDefinition]) -> list[str]:
        """Return the id of each dependency.

        An omitted id is derived from the ids of the two fields that the dependency connects and, if
        several dependencies connect the same two fields, their order.
        """
        ids: list[str] = []
        times_seen: dict[tuple[str, str], int] = {}
        for dependency in dependencies:
            ends = (
                self.fields.find(dependency.field) or "",
                self.fields.find(dependency.depends_on_field) or "",
            )
            times_seen[ends] = times_seen.get(ends, 0) + 1
            ids.append(
                dependency.id
                or derived_id(self.form_id, "dependency", *ends, str(times_seen[ends]))
            )
        return ids
