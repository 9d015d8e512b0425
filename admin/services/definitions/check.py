"""Validate all definitions of one run of the command ``load`` before any of them is saved.

First, each definition is validated against the schema of its kind. Then the rules are checked. One
rule is that the brands and stores that a definition refers to are stored or defined in the same
run. Three errors are found only when definitions are saved: a form id that belongs to another
account, a brand id that belongs to a store or vice versa, and more tags than an account can have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from admin.domain.definitions import parse_definition
from admin.domain.forms.appearance import appearance_warnings
from admin.domain.forms.form import FormDefinition
from admin.domain.forms.survey import offer_warnings
from admin.services.definitions.definition import Definition, Kind, Problem, RawDefinition
from admin.services.definitions.identify import identify_definition
from admin.services.definitions.keys import resolve_keys
from admin.services.definitions.kinds import RESOURCES
from admin.services.definitions.references import RunReferences, StoredResources
from chalicelib.domain.errors import InvalidInput, RecordTooLarge
from chalicelib.domain.input_errors import InputError


def check(
    raw_definitions: Sequence[RawDefinition],
    default_account: str | None,
    known: StoredResources,
    unreadable: Sequence[Problem] = (),
) -> tuple[list[Definition], list[Problem]]:
    """Return the valid definitions in their original order, and all problems.

    Rules are checked only if all files are readable and all definitions match their schemas.
    Otherwise, a reference to an invalid definition of the same run would be reported as unknown.

    Args:
        default_account: the account of definitions without an ``account`` field.
        known: looks up stored accounts and resources.
        unreadable: the problems found while the files of this run were read.
    """
    problems = [*unreadable, *resolve_keys(raw_definitions, default_account, known)]
    definitions: list[Definition] = []
    for raw in raw_definitions:
        try:
            definitions.append(identify_definition(raw, default_account, known))
        except InvalidInput as error:
            problems += [Problem(raw.origin, input_error) for input_error in error.errors]
    lines = {raw.origin: raw.line_of for raw in raw_definitions}
    return definitions, [
        replace(problem, line=lines[problem.origin](problem.input_error.pointer))
        if problem.origin in lines
        else problem
        for problem in problems or _rule_problems(definitions, known)
    ]


def warnings(definitions: Sequence[Definition]) -> list[Problem]:
    """Return warnings about the appearance and the offers of valid contact forms and surveys."""
    parsed = ((d.origin, parse_definition(d.content, RESOURCES[d.kind].model)) for d in definitions)
    return [
        Problem(origin, warning)
        for origin, form in parsed
        if isinstance(form, FormDefinition)
        for warning in (*appearance_warnings(form), *offer_warnings(form))
    ]


def _rule_problems(definitions: Sequence[Definition], known: StoredResources) -> Iterator[Problem]:
    references = RunReferences(definitions, known)
    origins: dict[tuple[str, Kind, str], str] = {}
    for definition in definitions:
        origin, account_id = definition.origin, definition.account_id
        resource = (account_id, definition.kind, definition.resource_id)
        first = origins.setdefault(resource, origin)
        if first != origin:
            detail = f"Duplicate id, first used in {first}."
            yield Problem(origin, InputError("/id", "duplicate", detail))
        try:
            RESOURCES[definition.kind].build(account_id, definition.content, references, None)
        except InvalidInput as error:
            yield from (Problem(origin, input_error) for input_error in error.errors)
        except RecordTooLarge as error:
            yield Problem(origin, InputError("", "record_too_large", str(error)))
