"""One row per kind of definition: how its resources are found, built, shown and saved."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, Generic, TypeVar
from zoneinfo import ZoneInfo

from admin.domain.customers.definition import CustomerDefinition, build_customer
from admin.domain.customers.merge import merge_customer
from admin.domain.definitions import parse_definition
from admin.domain.forms.contact_form import ContactFormDefinition, define_contact_form
from admin.domain.forms.form import with_offsets
from admin.domain.forms.survey import SurveyDefinition, define_survey
from admin.domain.places import BrandDefinition, StoreDefinition, define_place
from admin.domain.tags import merge_tags
from admin.domain.workflows.definition import (
    WorkflowDefinition,
    build_workflow,
    parse_workflow_definition,
)
from admin.services.definitions.definition import Kind
from admin.services.definitions.export import (
    customer_content,
    form_definition,
    place_definition,
    workflow_definition,
)
from admin.services.definitions.references import FORM_KINDS, RunReferences, StoredResources
from admin.storage import forms, places
from admin.storage import workflows as workflow_storage
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.places import Directory, Place
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Conflict
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.customers.read import find_customer
from chalicelib.services.forms.saved import read_saved
from chalicelib.settings import settings
from chalicelib.storage import account_changes
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.forms import TABLES

Model = (
    BrandDefinition
    | CustomerDefinition
    | ContactFormDefinition
    | SurveyDefinition
    | WorkflowDefinition
)
Saved = TypeVar("Saved", bound=Place | SavedContactForm | SavedSurvey | Workflow)
_Form = TypeVar("_Form", SavedContactForm, SavedSurvey)
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Resource(Generic[_Found]):
    """The resources that a kind of definitions describes.

    Attributes:
        model: the schema of the definitions.
        find: returns an account's stored resource by id, or None. Raises `Conflict` if the id
            belongs to another account.
        build: builds the resource that replaces a stored one. Raises `InvalidInput` and
            `RecordTooLarge`. Definitions are built in the order in which they are saved.
        content: returns the content of an account's resource, as in a definition.
    """

    kind: Kind
    model: type[Model]
    find: Callable[[str, str, StoredResources], _Found | None]
    build: Callable[[str, Any, RunReferences, _Found | None], _Found]
    content: Callable[[str, _Found], dict[str, Any]]


@dataclass(frozen=True)
class Replaced(Resource[Saved]):
    """Resources that a definition replaces, and whose changes the account's history contains.

    Attributes:
        saved: the model of the resource.
        fetch: returns an account's stored resource by id in a unit of work, or None. Raises
            `Conflict` as ``find`` does.
        write: saves a resource in a unit of work that has fetched the stored one.
        recorded: the attributes of a replaced resource that the history contains; None for all.
    """

    saved: type[Saved]
    fetch: Callable[[Rows, str, str], Saved | None]
    write: Callable[[Rows, str, Saved], None]
    recorded: set[str] | None = None


def save(
    resource: Replaced[Saved],
    account_id: str,
    definition: Any,
    operator: str | None = None,
    check: Callable[[Saved | None], object] = lambda _: None,
) -> Saved:
    """Create the resource that a definition describes, or replace the one with the same id.

    If it changes in the meantime, it is built again, so that no concurrent change is lost.

    Args:
        operator: the identity of the operator, for the history. None for data of the
            service itself, such as demo data.
        check: called with the stored resource before it is replaced, or with None. If it raises an
            exception, nothing is saved.

    Raises:
        InvalidInput: the definition is invalid.
        RecordTooLarge: the resource exceeds its size limit.
        Conflict: the id belongs to another account.
    """
    resource_id = parse_definition(definition, resource.model).id

    def use_case(rows: Rows) -> Saved:
        earlier = resource.fetch(rows, account_id, resource_id)
        references = RunReferences((), StoredResources())
        new = resource.build(account_id, definition, references, earlier)
        if new == earlier:
            return new
        check(earlier)
        resource.write(rows, account_id, new)
        if operator:
            now, subject = clock.now(), f"{resource.kind.value} {new.id}"
            old = earlier and earlier.model_dump(mode="json", include=resource.recorded)
            change = AccountChange(now, subject, operator, old, {"name": new.name})
            account_changes.add(rows, account_id, [change])
            if isinstance(earlier, Workflow):
                workflow_storage.keep_version(rows, account_id, earlier, now)
        return new

    return commit(use_case)


def _places(kind: Kind, model: type[BrandDefinition]) -> Replaced[Place]:
    def find(account_id: str, place_id: str, stored: StoredResources) -> Place | None:
        return stored.directory(account_id).by_id.get(place_id)

    def build(
        account_id: str, definition: Any, references: RunReferences, earlier: Place | None
    ) -> Place:
        return define_place(definition, model, partial(references.directory, account_id), earlier)

    return Replaced(
        kind,
        model,
        find,
        build,
        lambda _, place: place_definition(place),
        Place,
        places.fetch,
        places.save,
    )


def _forms(
    kind: Kind,
    model: type[ContactFormDefinition] | type[SurveyDefinition],
    saved: type[_Form],
    define: Callable[[Any, Directory, datetime, _Form | None], _Form],
) -> Replaced[_Form]:
    table = TABLES[FORM_KINDS[kind]]

    def fetch(rows: Rows, account_id: str, form_id: str) -> _Form | None:
        row = forms.fetch(rows, table, form_id)
        if row and row.account_id != account_id:
            raise Conflict("This id is already used by another account's form.")
        return read_saved(saved, row) if row else None

    def find(account_id: str, form_id: str, _: StoredResources) -> _Form | None:
        return fetch(Rows(), account_id, form_id)

    def build(
        account_id: str, definition: Any, references: RunReferences, earlier: _Form | None
    ) -> _Form:
        definition = with_offsets(
            definition, lambda: ZoneInfo(account_settings(account_id).time_zone)
        )
        return define(definition, references.directory(account_id), clock.now(), earlier)

    def write(rows: Rows, account_id: str, form: _Form) -> None:
        forms.save(rows, table, account_id, form)

    return Replaced(kind, model, find, build, form_definition, saved, fetch, write)


def _find_workflow(account_id: str, workflow_id: str, stored: StoredResources) -> Workflow | None:
    return next((w for w in stored.workflows(account_id) if w.id == workflow_id), None)


def _build_workflow(
    account_id: str, definition: Any, references: RunReferences, earlier: Workflow | None
) -> Workflow:
    workflows = references.workflows(account_id)
    parsed = parse_workflow_definition(
        definition,
        references.directory(account_id),
        workflows.values(),
        lambda: references.labels(account_id),
        allow_private=settings().private_webhooks,
    )
    workflows[parsed.id] = built = build_workflow(parsed, clock.now(), earlier)
    return built


def _build_customer(
    account_id: str, definition: Any, references: RunReferences, earlier: Customer | None
) -> Customer:
    parsed, now = parse_definition(definition, CustomerDefinition), clock.now()
    existing = references.stored.directory(account_id).tags
    built = build_customer(parsed, merge_tags(account_id, parsed.tags, existing, now), now)
    return merge_customer(definition, built, earlier) if earlier else built


BRAND: Final = _places(Kind.BRAND, BrandDefinition)
STORE: Final = _places(Kind.STORE, StoreDefinition)
CUSTOMER: Final = Resource(
    Kind.CUSTOMER,
    CustomerDefinition,
    lambda account_id, customer_id, _: find_customer(account_id, customer_id),
    _build_customer,
    lambda _, customer: customer_content(customer),
)
CONTACT_FORM: Final = _forms(
    Kind.CONTACT_FORM, ContactFormDefinition, SavedContactForm, define_contact_form
)


def _define_survey(
    definition: Any, directory: Directory, now: datetime, earlier: SavedSurvey | None
) -> SavedSurvey:
    is_emulated = settings().is_emulated
    return define_survey(definition, directory, now, earlier, is_emulated=is_emulated)


SURVEY: Final = _forms(Kind.SURVEY, SurveyDefinition, SavedSurvey, _define_survey)
WORKFLOW: Final = Replaced(
    Kind.WORKFLOW,
    WorkflowDefinition,
    _find_workflow,
    _build_workflow,
    workflow_definition,
    Workflow,
    workflow_storage.fetch,
    workflow_storage.save,
    {"name"},
)
RESOURCES: Final[dict[Kind, Resource[Any]]] = {
    row.kind: row for row in (BRAND, STORE, CUSTOMER, CONTACT_FORM, SURVEY, WORKFLOW)
}
