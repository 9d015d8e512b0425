"""Look up the resources to which the definitions of one ``load`` command can refer."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from admin.services.accounts.manage import find_account
from admin.services.definitions.definition import Definition, Kind
from admin.services.forms.manage import list_forms
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.accounts.directory import current_directory
from chalicelib.storage.workflows import list_for_account

_PLACE_KINDS: Final = {Kind.BRAND: PlaceKind.BRAND, Kind.STORE: PlaceKind.STORE}
FORM_KINDS: Final = {Kind.CONTACT_FORM: FormKind.CONTACT_FORM, Kind.SURVEY: FormKind.SURVEY}


class StoredResources:
    """Look up stored resources to which definitions refer, and cache the results."""

    @cache  # noqa: B019 - the process ends with the command
    def account(self, account_id: str) -> Account | None:
        """Return the account, or None if it does not exist."""
        return find_account(account_id)

    @cache  # noqa: B019
    def directory(self, account_id: str) -> Directory:
        """Return the account's brands and stores."""
        return current_directory(account_id)

    @cache  # noqa: B019
    def ids_by_key(self, account_id: str, kind: Kind) -> Mapping[str, str]:
        """Return the ids of the account's resources of a kind that have a key, by key."""
        if kind in FORM_KINDS:
            saved = (form.saved for form in list_forms(account_id, FORM_KINDS[kind]))
            return {form.key: form.id for form in saved if form.key}
        places = self.directory(account_id).places
        return {p.key: p.id for p in places if p.key and p.kind is _PLACE_KINDS[kind]}

    @cache  # noqa: B019
    def workflows(self, account_id: str) -> Sequence[Workflow]:
        """Return the account's workflows."""
        return list_for_account(account_id, consistent=True)

    @cache  # noqa: B019
    def labels(self, account_id: str) -> frozenset[str]:
        """Return the names of the labels that the account's forms declare."""
        forms = (form for kind in FormKind for form in list_forms(account_id, kind))
        return frozenset(name for form in forms for name in form.saved.labels)


class RunReferences:
    """Look up resources that are stored, or defined in the same run of ``load``."""

    def __init__(self, definitions: Iterable[Definition], stored: StoredResources) -> None:
        self.stored = stored
        self._defined = {(d.account_id, d.kind, d.resource_id): d for d in definitions}
        self._workflows: dict[str, dict[str, Workflow]] = {}

    @cache  # noqa: B019 - the process ends with the command
    def directory(self, account_id: str) -> Directory:
        """Return the brands and stores that are stored in the account or defined in the run.

        The size limits of forms include the names of brands and stores.
        """
        defined = [
            Place(id=resource_id, kind=_PLACE_KINDS[kind], name=definition.content["name"])
            for (account, kind, resource_id), definition in self._defined.items()
            if account == account_id and resource_id and kind in _PLACE_KINDS
        ]
        return Directory.of((*self.stored.directory(account_id).places, *defined))

    def labels(self, account_id: str) -> frozenset[str]:
        """Return the names of the labels of forms that are stored, or defined in the run."""
        defined = (
            name
            for (account, kind, _), definition in self._defined.items()
            if account == account_id and kind in FORM_KINDS
            for name in definition.content.get("labels") or ()
        )
        return self.stored.labels(account_id).union(defined)

    def workflows(self, account_id: str) -> dict[str, Workflow]:
        """Return the account's workflows by id: those that are stored, and those that were built.

        The id of an action must be unique in the account.
        """
        if account_id not in self._workflows:
            stored = self.stored.workflows(account_id)
            self._workflows[account_id] = {workflow.id: workflow for workflow in stored}
        return self._workflows[account_id]
