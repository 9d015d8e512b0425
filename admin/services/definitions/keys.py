"""Replace the keys of brands, stores and forms in raw definitions with ids.

The operator chooses the key of a resource. A definition with a key and without an id gets the id of
the stored resource with this key, or an id derived from the key.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from admin.services.definitions.definition import Kind, Problem, RawDefinition
from admin.services.definitions.references import StoredResources
from chalicelib.domain.comparison import Comparator, parse_list
from chalicelib.domain.ids import derived_id, parse_id
from chalicelib.domain.input_errors import InputError, unknown_reference

KEYED: Final = (Kind.BRAND, Kind.STORE, Kind.CONTACT_FORM, Kind.SURVEY)
"""The kinds of resources that have keys."""

_REFERENCES: Final = {
    Kind.STORE: ("brandId", Kind.BRAND),
    Kind.CONTACT_FORM: ("brandId", Kind.BRAND),
}
_SUBJECTS: Final = {
    "brand": Kind.BRAND,
    "store": Kind.STORE,
    "form": Kind.CONTACT_FORM,
    "survey": Kind.SURVEY,
}
_LISTS: Final = (Comparator.IN.value, Comparator.NIN.value)


@dataclass(frozen=True)
class _Reference:
    """A property of a definition that contains the id or the key of a resource."""

    kind: Kind
    owner: dict[str, Any]
    name: str
    path: tuple[str | int, ...]
    is_list: bool = False


def resolve_keys(
    raw_definitions: Sequence[RawDefinition], default_account: str | None, known: StoredResources
) -> list[Problem]:
    """Replace keys with ids in the definitions. Return a problem for each unknown or repeated key.

    Invalid definitions are not changed, because their validation reports the error. AWS requests:
    none without keys; otherwise those of ``known``.
    """
    keys = _Keys(known)
    owned = [
        (raw, account_id, Kind(raw.content["kind"]))
        for raw in raw_definitions
        if (account_id := _account_of(raw.content, default_account))
    ]
    for raw, account_id, kind in owned:
        if kind in KEYED:
            keys.register(raw, account_id, kind)
    for raw, account_id, kind in owned:
        for reference in _references(kind, raw.content):
            keys.resolve(raw, account_id, reference)
    return keys.problems


@dataclass
class _Keys:
    known: StoredResources
    problems: list[Problem] = field(default_factory=list)
    defined: dict[tuple[str, Kind, str], str] = field(default_factory=dict)

    def register(self, raw: RawDefinition, account_id: str, kind: Kind) -> None:
        """Register the key of a definition. Set the id if it is missing."""
        key = raw.content.get("key")
        if not isinstance(key, str) or not key:
            return
        stored = self.known.ids_by_key(account_id, kind).get(key)
        if raw.content.get("id") is None:
            raw.content["id"] = stored or derived_id(account_id, kind, key)
        resource_id = str(raw.content["id"]).lower()
        first = self.defined.setdefault((account_id, kind, key), resource_id)
        if resource_id not in (first, stored) or (stored and stored != resource_id):
            detail = f"Another {kind.word} of the account has this key."
            self.problems.append(Problem(raw.origin, InputError("/key", "duplicate", detail)))

    def resolve(self, raw: RawDefinition, account_id: str, reference: _Reference) -> None:
        """Replace the keys in a reference with ids."""
        value = reference.owner.get(reference.name)
        if isinstance(value, str):
            items = parse_list(value) if reference.is_list else [value]
            ids = [self._id_of(raw, account_id, reference, item) for item in items]
            if ids != items:
                reference.owner[reference.name] = ",".join(ids)

    def _id_of(self, raw: RawDefinition, account_id: str, reference: _Reference, text: str) -> str:
        if not text or parse_id(text):
            return text
        found = self.defined.get((account_id, reference.kind, text))
        found = found or self.known.ids_by_key(account_id, reference.kind).get(text)
        if found is None:
            error = unknown_reference(reference.kind.word, *reference.path)
            self.problems.append(Problem(raw.origin, error))
        # An unknown id avoids a second error about the same text.
        return found or derived_id(account_id, reference.kind, text)


def _account_of(content: Any, default_account: str | None) -> str | None:
    """Return the account of a raw definition, or None if its account or its kind is invalid."""
    if not isinstance(content, dict) or content.get("kind") not in list(Kind):
        return None
    account = content.get("account") or default_account
    return parse_id(account) if isinstance(account, str) else None


def _references(kind: Kind, content: dict[str, Any]) -> Iterator[_Reference]:
    if kind in _REFERENCES:
        name, referenced = _REFERENCES[kind]
        yield _Reference(referenced, content, name, (name,))
    if kind is Kind.SURVEY:
        for target, path in _objects(content, "targets"):
            is_brand = target.get("type") == "BRAND"
            referenced = Kind.BRAND if is_brand else Kind.STORE
            yield _Reference(referenced, target, "targetId", (*path, "targetId"))
    if kind is Kind.WORKFLOW:
        conditions = [*_objects(content, "conditions")]
        for condition, path in conditions:
            conditions += _objects(condition, "conditions", *path)
            subject, operator = condition.get("subject"), condition.get("operator")
            if isinstance(subject, str) and subject in _SUBJECTS and operator != "$exists":
                is_list = operator in _LISTS
                path = (*path, "value")
                yield _Reference(_SUBJECTS[subject], condition, "value", path, is_list)


def _objects(
    owner: dict[str, Any], name: str, *path: str | int
) -> Iterator[tuple[dict[str, Any], tuple[str | int, ...]]]:
    """Yield the objects in a list of an object, with their paths."""
    items = owner.get(name)
    for position, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield item, (*path, name, position)
