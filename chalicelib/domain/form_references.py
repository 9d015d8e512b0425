"""How the parts of a form document are called, and which of them a reference means."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from chalicelib.domain.form_document import FieldDependencyDocument, FormDocument, KeyedPart
from chalicelib.domain.ids import derived_id, parse_id


@dataclass(frozen=True)
class Names:
    """The names of the fields, or of the groups, of one form, in the order of the document.

    Attributes:
        ids: the id of each, given or derived.
        keys: the key of each, which is the id where none was given.
    """

    ids: Sequence[str]
    keys: Sequence[str]

    @classmethod
    def of(cls, form_id: str, kind: str, parts: Iterable[KeyedPart]) -> Self:
        """The names of these parts; ids that are not given follow from form, kind and key."""
        ids: list[str] = []
        keys: list[str] = []
        for position, part in enumerate(parts):
            ids.append(part.id or derived_id(form_id, kind, part.key or f"#{position}"))
            keys.append(part.key or ids[-1])
        return cls(ids, keys)

    def find(self, reference: str) -> str | None:
        """The id of the part that is called so, by its id or by its key."""
        lowered = parse_id(reference)
        if lowered is not None and lowered in self._known_ids:
            return lowered
        return self._id_of_key.get(reference)

    @cached_property
    def _known_ids(self) -> frozenset[str]:
        return frozenset(self.ids)

    @cached_property
    def _id_of_key(self) -> dict[str, str]:
        return dict(zip(self.keys, self.ids, strict=True))


@dataclass(frozen=True)
class References:
    """Everything in one form document that can be pointed at."""

    form_id: str
    fields: Names
    groups: Names

    @classmethod
    def of(cls, document: FormDocument) -> Self:
        """The names of the document's fields and groups."""
        return cls(
            document.id,
            Names.of(document.id, "field", document.fields),
            Names.of(document.id, "group", document.field_groups),
        )

    def dependency_ids(self, dependencies: Iterable[FieldDependencyDocument]) -> list[str]:
        """The id of each dependency; one that is not given follows from the two fields.

        Further dependencies between the same two fields are told apart by their order.
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
