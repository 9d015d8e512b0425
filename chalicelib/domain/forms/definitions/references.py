"""How the parts of a form document are called, and which of them a reference means."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from chalicelib.domain.forms.definitions.form import (
    FieldDependencyDefinition,
    FormDefinition,
    KeyedPart,
)
from chalicelib.domain.ids import derived_id, parse_id
from chalicelib.domain.rule import MalformedValue, unless_malformed


@dataclass(frozen=True)
class Names:
    """The names of the fields, or of the groups, of one form, in the order of the document.

    Attributes:
        ids: the id of each, given or derived.
        keys: the key of each, which is the id where none was given.
        all_known: whether no part's name is malformed.
    """

    ids: Sequence[str]
    keys: Sequence[str]
    all_known: bool = True

    @classmethod
    def of(cls, form_id: str, kind: str, parts: Iterable[KeyedPart]) -> Self:
        """The names of these parts; ids that are not given follow from form, kind and key."""
        ids: list[str] = []
        keys: list[str] = []
        all_known = True
        for position, part in enumerate(parts):
            try:
                given_id, key = part.id, part.key
            except MalformedValue:
                given_id, key = derived_id(form_id, kind, "malformed", str(position)), None
                all_known = False
            ids.append(given_id or derived_id(form_id, kind, key or f"#{position}"))
            keys.append(key or ids[-1])
        return cls(ids, keys, all_known)

    def find(self, reference: str) -> str | None:
        """The id of the part that is called so, by its id or by its key."""
        lowered = parse_id(reference)
        if lowered is not None and lowered in self._known_ids:
            return lowered
        return self._id_of_key.get(reference)

    def lack(self, reference: str) -> bool:
        """Whether there is surely no part that is called so."""
        return self.all_known and self.find(reference) is None

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
    def of(cls, document: FormDefinition) -> Self:
        """The names of the document's fields and groups."""
        form_id = unless_malformed(lambda: document.id, "")
        unknown = Names((), (), all_known=False)
        return cls(
            form_id,
            unless_malformed(lambda: Names.of(form_id, "field", document.fields), unknown),
            unless_malformed(lambda: Names.of(form_id, "group", document.field_groups), unknown),
        )

    def dependency_ids(self, dependencies: Iterable[FieldDependencyDefinition]) -> list[str]:
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
