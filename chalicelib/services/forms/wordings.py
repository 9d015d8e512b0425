"""Find the wording of the questions that feedback answers, as the respondent saw it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from cachetools import LRUCache
from pydantic import ValidationError

from chalicelib.domain.errors import NotFound, UnreadableForm
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.forms.wording import FormWording
from chalicelib.services.forms.cached_forms import AnyCachedForm, get_contact_form, get_survey
from chalicelib.storage.forms import TABLES

_MAX_CACHED: Final = 512
_FORMS: Final[dict[FormKind, Callable[[str], AnyCachedForm]]] = {
    FormKind.CONTACT_FORM: get_contact_form,
    FormKind.SURVEY: get_survey,
}

_Key = tuple[FormKind, str, str]
_versions: Final[LRUCache[_Key, FormWording]] = LRUCache(_MAX_CACHED)
"""Loaded versions. They never change, so they do not expire."""


def current_form(record: Feedback) -> AnyCachedForm | None:
    """Return the readable form of a feedback record, or None. No AWS request if it is cached."""
    try:
        return _FORMS[record.kind](record.form_id)
    except (NotFound, UnreadableForm):
        return None


def wordings_of(records: Sequence[Feedback]) -> list[FormWording]:
    """Return the wording that the respondent of each record saw.

    This is the version that the respondent's page named, otherwise the version that validated the
    answers. If neither is stored, it is the current wording of the form. No AWS request if the
    forms are current or cached; otherwise one per 100 versions, for each kind of form.
    """
    known = {
        key: form.wording
        for record in records
        if (form := current_form(record)) and (key := (record.kind, record.form_id, form.version))
    }
    current = {key[:2]: wording for key, wording in known.items()}
    wanted = {record.id: _keys(record) for record in records}
    known |= _load({key for keys in wanted.values() for key in keys} - known.keys())
    return [
        next(
            (known[key] for key in wanted[record.id] if key in known),
            current.get((record.kind, record.form_id), FormWording()),
        )
        for record in records
    ]


def _keys(record: Feedback) -> list[_Key]:
    versions = (record.displayed_version, record.form_version)
    return [(record.kind, record.form_id, version) for version in versions if version]


def _load(keys: set[_Key]) -> dict[_Key, FormWording]:
    found = {key: _versions[key] for key in keys if key in _versions}
    unknown = defaultdict(list)
    for kind, form_id, version in sorted(keys - found.keys()):
        unknown[kind].append((form_id, version))
    for kind, versions in unknown.items():
        for (form_id, version), content in TABLES[kind].find_versions(versions).items():
            with suppress(ValidationError):  # a later version of the service can have saved it
                found[kind, form_id, version] = FormWording.model_validate_json(content)
    _versions.update(found)
    return found
