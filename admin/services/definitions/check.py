"""Validate all definitions of one run of the command ``load`` before any of them is saved.

First, each definition is validated against the schema of its kind. Then the rules are checked. One
rule is that the brands and stores that a definition refers to are stored or defined in the same
run. Three errors are found only when definitions are saved: a form id that belongs to another
account, a brand id that belongs to a store or vice versa, and more tags than an account can have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from admin.domain.customers.definition import CustomerDefinition, build_customer
from admin.domain.forms.appearance import appearance_warnings
from admin.domain.forms.contact_form import ContactFormDefinition, define_contact_form
from admin.domain.forms.form import FormDefinition
from admin.domain.forms.survey import SurveyDefinition, define_survey
from admin.domain.places import parse_store_definition
from admin.domain.tags import merge_tags
from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from admin.services.definitions.definition import Definition, Kind, Problem, RawDefinition
from admin.services.definitions.identify import identify_definition
from admin.services.definitions.keys import resolve_keys
from admin.services.definitions.references import RunReferences, StoredResources
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.definitions import parse_definition
from chalicelib.domain.errors import InvalidInput, RecordTooLarge
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.settings import settings


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
    """Return warnings about the appearance of valid contact forms and surveys."""
    models: dict[Kind, type[FormDefinition]] = {
        Kind.CONTACT_FORM: ContactFormDefinition,
        Kind.SURVEY: SurveyDefinition,
    }
    return [
        Problem(definition.origin, warning)
        for definition in definitions
        if (model := models.get(definition.kind))
        for warning in appearance_warnings(parse_definition(definition.content, model))
    ]


def _rule_problems(definitions: Sequence[Definition], known: StoredResources) -> Iterator[Problem]:
    rules = _Rules(RunReferences(definitions, known))
    origins: dict[tuple[str, Kind, str], str] = {}
    for definition in definitions:
        origin = definition.origin
        resource = (definition.account_id, definition.kind, definition.resource_id)
        first = origins.setdefault(resource, origin)
        if first != origin:
            detail = f"Duplicate id, first used in {first}."
            yield Problem(origin, InputError("/id", "duplicate", detail))
        try:
            rules.check(definition)
        except InvalidInput as error:
            yield from (Problem(origin, input_error) for input_error in error.errors)
        except RecordTooLarge as error:
            yield Problem(origin, InputError("", "record_too_large", str(error)))


class _Rules:
    """The rules that valid definitions must satisfy, checked in the order of the definitions."""

    def __init__(self, references: RunReferences) -> None:
        self._references = references
        self._now = clock.now()
        self._workflows: dict[str, dict[str, Workflow]] = {}

    def check(self, definition: Definition) -> None:
        """Check the rules of one definition.

        Raises:
            InvalidInput, RecordTooLarge: the definition violates a rule.
        """
        account_id, content = definition.account_id, definition.content
        directory, now = self._references.directory(account_id), self._now
        match definition.kind:
            case Kind.STORE:
                parse_store_definition(content, directory)
            case Kind.CUSTOMER:
                customer = parse_definition(content, CustomerDefinition)
                build_customer(customer, merge_tags(account_id, customer.tags, {}, now), now)
            case Kind.CONTACT_FORM:
                define_contact_form(content, directory, now)
            case Kind.SURVEY:
                define_survey(content, directory, now)
            case Kind.WORKFLOW:
                self._check_workflow(account_id, content, directory)

    def _check_workflow(self, account_id: str, content: Any, directory: Directory) -> None:
        """Check a workflow against the workflows that exist when this run saves it."""
        if account_id not in self._workflows:
            stored = self._references.stored.workflows(account_id)
            self._workflows[account_id] = {workflow.id: workflow for workflow in stored}
        workflows = self._workflows[account_id]
        parsed = parse_workflow_definition(
            content, directory, workflows.values(), allow_private=settings().private_webhooks
        )
        workflows[parsed.id] = build_workflow(parsed, self._now)
