"""Find the wording of the questions that feedback answers, as the respondent saw it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from cachetools import LRUCache
from pydantic import ValidationError

from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.forms.wording import FormWording
from chalicelib.services.forms.cached_forms import (
    AnyCachedForm,
    FormKey,
    VersionKey,
    find_cached,
    load_forms,
)

_MAX_CACHED: Final = 512
_versions: Final[LRUCache[VersionKey, FormWording]] = LRUCache(_MAX_CACHED)
"""Loaded versions. They never change, so they do not expire."""


def forms_and_wordings(
    records: Sequence[Feedback],
) -> list[tuple[AnyCachedForm | None, FormWording]]:
    """Return the form of each record, and the wording that the respondent saw.

    The form is None if it is missing or unreadable. The wording is the version that the
    respondent's page named, otherwise the version that validated the answers. If neither is stored,
    it is the current wording of the form. No AWS request if forms and versions are cached;
    otherwise one per 100 rows: two for each form, and one for each version that is not known to be
    current.
    """
    asked = [(_form_key(record), _version_keys(record)) for record in records]
    keys, wanted = {key for key, _ in asked}, {each for _, versions in asked for each in versions}
    forms = {key: form for key in keys if (form := find_cached(key))}
    known = {key: _versions[key] for key in wanted if key in _versions} | _current(forms)
    missing, unknown = sorted(keys - forms.keys()), sorted(wanted - known.keys())
    if missing or unknown:
        loaded, documents = load_forms(missing, unknown)
        for key, document in documents.items():
            with suppress(ValidationError):  # a later version of the service can have saved it
                known[key] = _versions[key] = FormWording.model_validate_json(document)
        forms |= loaded
        known |= _current(loaded)
    found = []
    for form_key, versions in asked:
        form = forms.get(form_key)
        current = form.wording if form else FormWording()
        found.append((form, next((known[key] for key in versions if key in known), current)))
    return found


def _current(forms: Mapping[FormKey, AnyCachedForm]) -> dict[VersionKey, FormWording]:
    return {(*key, form.version): form.wording for key, form in forms.items()}


def _form_key(record: Feedback) -> FormKey:
    return record.kind, record.form_id


def _version_keys(record: Feedback) -> list[VersionKey]:
    versions = (record.displayed_version, record.form_version)
    return [(record.kind, record.form_id, version) for version in versions if version]
