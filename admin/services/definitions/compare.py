"""Compare definitions with the stored resources: what a load creates, changes and removes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from typing import Any

from admin.services.customers.save import without_suppressed_optins
from admin.services.definitions.definition import Definition, Kind, Problem
from admin.services.definitions.kinds import RESOURCES
from admin.services.definitions.plain_yaml import write_yaml
from admin.services.definitions.references import FORM_KINDS, RunReferences, StoredResources
from admin.services.feedback.selection import count_answers, find_answered
from admin.services.forms.manage import require_form
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Conflict, InvalidInput, RecordTooLarge
from chalicelib.domain.input_errors import InputError


class Outcome(StrEnum):
    """The effect of loading a definition."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Effect:
    """The effect of loading one definition.

    Attributes:
        saved: the content of the stored resource; None if there is none.
        is_compared: whether the definition was compared with the stored resource. Definitions that
            cannot be saved are not.
        diff: the changed lines of the definition, as in a unified diff.
        warnings: what respondents no longer see.
        refusals: changes that make stored responses ambiguous.
    """

    definition: Definition
    outcome: Outcome
    saved: dict[str, Any] | None = None
    is_compared: bool = False
    name: str = ""
    diff: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    refusals: tuple[Problem, ...] = ()

    def is_current(self, stored: Any) -> bool:
        """Return whether the stored resource has the content with which this was computed.

        The colours of a customer's tags do not count: they belong to the account.
        """
        content = _content(self.definition, stored) if stored else None
        return not self.is_compared or _without_colours(content) == _without_colours(self.saved)


def effects(
    definitions: Sequence[Definition],
    known: StoredResources,
    on_read: Callable[[int], None] = lambda _: None,
) -> list[Effect]:
    """Return the effect of each definition, in the order of the definitions.

    AWS requests: one per contact form, survey and customer, one per account with workflows, and one
    more per customer with an opt-in. For each form with fields that are removed or whose type
    changes, one more, and those of `count_answers` or `find_answered`.

    Args:
        on_read: called with the number of responses that were read.
    """
    references = RunReferences(definitions, known)
    return [_effect(definition, references, on_read) for definition in definitions]


def differences(
    kind: Kind, definitions: Sequence[Definition], known: StoredResources
) -> Iterator[str]:
    """Yield the lines of a unified diff from the saved definitions to these definitions.

    Only definitions of this kind are compared. The other definitions are used to resolve
    references.

    Raises:
        Conflict: another account uses the id of a form. `load` would reject the form.
    """
    references = RunReferences(definitions, known)
    for definition in definitions:
        if definition.kind is kind:
            stored, new = _stored_and_new(definition, references)
            name = f"{kind.value} {definition.resource_id}"
            yield from unified_diff(
                write_yaml(_content(definition, stored)).splitlines() if stored else [],
                write_yaml(_content(definition, new)).splitlines(),
                f"saved {name}",
                f"{definition.origin}: {name}",
                lineterm="",
            )


def _effect(
    definition: Definition, references: RunReferences, on_read: Callable[[int], None]
) -> Effect:
    try:
        stored, new = _stored_and_new(definition, references)
    except (Conflict, InvalidInput, RecordTooLarge):
        # Saving reports the error.
        return Effect(definition, Outcome.NEW)
    before, after = _content(definition, stored) if stored else None, _content(definition, new)
    name = str(after.get("name") or after.get("displayName") or after.get("email") or "")
    if before is None:
        return Effect(definition, Outcome.NEW, None, True, name)
    if before == after:
        return Effect(definition, Outcome.UNCHANGED, before, True, name)
    warnings, refusals = _field_problems(definition, stored, new, on_read)
    return Effect(
        definition,
        Outcome.CHANGED,
        before,
        True,
        name,
        tuple(_changed_lines(_without_secrets(before, {}), _without_secrets(after, before))),
        tuple(warnings),
        tuple(refusals),
    )


def _changed_lines(saved: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    lines = unified_diff(
        write_yaml(saved).splitlines(), write_yaml(new).splitlines(), lineterm="", n=1
    )
    for number, line in enumerate(lines):
        if number > 1:  # after the names of the two files
            yield "…" if line.startswith("@@") else line


def _without_secrets(content: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without the values of webhook headers, which can be credentials.

    Args:
        saved: the stored definition. Values that differ from it are marked.
    """
    before = {action["key"]: action.get("headers", {}) for action in saved.get("actions", ())}
    actions = [
        action
        | {
            "headers": {
                name: "(another hidden value)"
                if saved and value != before.get(action["key"], {}).get(name)
                else "(hidden value)"
                for name, value in action["headers"].items()
            }
        }
        if action.get("headers")
        else action
        for action in content.get("actions", ())
    ]
    return content | {"actions": actions} if actions else content


def _field_problems(
    definition: Definition, stored: Any, new: Any, on_read: Callable[[int], None]
) -> tuple[list[Problem], list[Problem]]:
    """Return warnings about removed fields and options, and the changed types with answers."""
    if definition.kind not in FORM_KINDS:
        return [], []
    by_key = {field.key: field for field in new.fields}
    by_id = {field.id: field for field in new.fields}
    warnings, removed, retyped = [], {}, {}
    for field in stored.fields:
        replacing = by_id.get(field.id) or by_key.get(field.key)
        if replacing is None:
            removed[field.id] = field.key
            continue
        for option in (value for value in field.values if value not in replacing.values):
            detail = f"Removes the option {option!r} of the field {field.key}."
            warnings.append(_problem(definition, "removed", detail))
        if replacing.type is not field.type:
            retyped[field.id] = (
                f"Changes the type of the field {field.key} from {field.type} to"
                f" {replacing.type}, but responses answer it. Use another key for the new question,"
                " or add --retype-answered-fields."
            )
    if not removed and not retyped:
        return warnings, []
    form = require_form(FORM_KINDS[definition.kind], stored.id, account_id=definition.account_id)
    counts = count_answers(form, removed, on_read) if removed else Counter[str]()
    for field_id, key in removed.items():
        detail = f"Removes the field {key}. Responses that answer it: {counts[field_id]:,}."
        warnings.append(_problem(definition, "removed", detail))
    answered = find_answered(form, retyped, on_read) if retyped else ()
    refusals = [
        _problem(definition, "answered_field", detail)
        for field_id, detail in retyped.items()
        if field_id in answered
    ]
    return warnings, refusals


def _problem(definition: Definition, code: str, detail: str) -> Problem:
    return Problem(definition.origin, InputError("/fields", code, detail))


def _stored_and_new(definition: Definition, references: RunReferences) -> tuple[Any, Any]:
    """Return the stored resource, or None, and the resource that a load would save."""
    account_id, resource = definition.account_id, RESOURCES[definition.kind]
    stored = resource.find(account_id, definition.resource_id, references.stored)
    new = resource.build(account_id, definition.content, references, stored)
    if isinstance(new, Customer):
        new = without_suppressed_optins(account_id, new)
    return stored, new


def _content(definition: Definition, resource: Any) -> dict[str, Any]:
    """Return the content of the resource that a definition describes, as a definition."""
    return RESOURCES[definition.kind].content(definition.account_id, resource)


def _without_colours(content: dict[str, Any] | None) -> dict[str, Any] | None:
    tags = [tag["tag"] for tag in (content or {}).get("tags", ())]
    return content and content | {"tags": tags}
