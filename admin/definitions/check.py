"""Check all definitions of a run before any of them is saved: first the shapes, then the rules.

Rules include references: brands, stores and customers must exist already or be defined in the same
run. Only saving finds an id that belongs to another account's form or to a place of the other kind.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from admin.definitions.definition import Definition, Kind, Problem, RawDefinition
from admin.definitions.identify import KnownAccounts, identify_definition
from admin.definitions.references import KnownParts, RunReferences
from chalicelib.domain import clock
from chalicelib.domain.accounts.places import parse_store_definition
from chalicelib.domain.customers.customer import CustomerDefinition, build_customer
from chalicelib.domain.definitions import parse_definition
from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.forms.definitions.contact_form import (
    build_contact_form,
    parse_contact_form_definition,
)
from chalicelib.domain.forms.definitions.survey import build_survey, parse_survey_definition
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.purchases.purchase import parse_purchase_definition
from chalicelib.domain.workflows.definition import build_workflow, parse_workflow_definition
from chalicelib.settings import settings


class Known(KnownAccounts, KnownParts, Protocol):
    """The accounts that exist, and their resources."""


def check(
    found: Sequence[RawDefinition],
    default_account: str | None,
    known: Known,
    unreadable: Sequence[Problem] = (),
) -> tuple[list[Definition], list[Problem]]:
    """Return the definitions in the order found, and all problems.

    Rules are checked only if every file is readable and every shape is valid. Otherwise a reference
    to an invalid definition of the same run would look unknown.

    Args:
        default_account: the account of definitions that name none.
        unreadable: problems with files that contain definitions of this run.
    """
    problems = [*unreadable]
    definitions: list[Definition] = []
    for raw in found:
        try:
            definitions.append(identify_definition(raw, default_account, known))
        except InvalidInput as error:
            problems += [Problem(raw.origin, each) for each in error.errors]
    return definitions, problems or [*_rule_problems(definitions, known)]


def _rule_problems(definitions: Sequence[Definition], known: Known) -> Iterator[Problem]:
    references = RunReferences(definitions, known)
    now = clock.now()
    origins: dict[tuple[str, Kind, str], str] = {}
    for each in definitions:
        if each.own_id:
            first = origins.setdefault((each.account_id, each.kind, each.own_id), each.origin)
            if first != each.origin:
                detail = f"Duplicate id, first used in {first}."
                yield Problem(each.origin, InputError("/id", "duplicate", detail))
        try:
            _check_rules(each, references, now)
        except InvalidInput as error:
            yield from (Problem(each.origin, input_error) for input_error in error.errors)
        except InputTooLarge as error:
            yield Problem(each.origin, InputError("", "too_large", str(error)))


def _check_rules(definition: Definition, references: RunReferences, now: datetime) -> None:
    account_id, content = definition.account_id, definition.content
    directory = references.directory(account_id)
    match definition.kind:
        case Kind.STORE:
            parse_store_definition(content, directory)
        case Kind.CUSTOMER:
            build_customer(parse_definition(content, CustomerDefinition), now)
        case Kind.CONTACT_FORM:
            build_contact_form(parse_contact_form_definition(content, directory), now)
        case Kind.SURVEY:
            build_survey(parse_survey_definition(content, directory), now)
        case Kind.WORKFLOW:
            allow_private = settings().private_webhooks
            build_workflow(
                parse_workflow_definition(content, directory, allow_private=allow_private), now
            )
        case Kind.PURCHASE:
            parse_purchase_definition(
                content, directory, lambda customer: references.has_customer(account_id, customer)
            )
