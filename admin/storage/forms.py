"""Save forms, and load and correct their submission counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.wording import FormWording
from chalicelib.storage.counters import counter_key, next_position
from chalicelib.storage.dynamodb.table import Key, account_key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.forms import DOCUMENT, SUMMARY, VERSION, FormRow, FormTable


@dataclass(frozen=True)
class SubmissionCount:
    """The stored number of a form's submissions. Each change increases the revision."""

    number: int
    revision: int | None


def load_counts(table: FormTable, form_ids: Sequence[str]) -> dict[str, SubmissionCount]:
    """Return the submission counts of forms by id. One consistent request per 100 forms."""
    rows = read_together(*(Key(table.row, form_id, SUMMARY) for form_id in form_ids))
    return {
        row.form_id: SubmissionCount(row.submission_count or 0, row.revision) for row in rows if row
    }


def correct_count(table: FormTable, form_id: str, read: SubmissionCount, number: int) -> bool:
    """Replace the submission count of a form. Return False if the count has changed.

    Args:
        read: the count when it was loaded.
    """
    key = Key(table.row, form_id, SUMMARY)

    def correct(rows: Rows) -> bool:
        if rows.has_failed(key):
            return False
        rows.expect(key, table.row.revision, read.revision)
        rows.set(key, table.row.submission_count, number)
        return True

    return commit(correct)


def fetch(rows: Rows, table: FormTable, form_id: str) -> FormRow | None:
    """Return the document of a form in a unit of work, which relies on its version. One request."""
    key = Key(table.row, form_id, DOCUMENT)
    rows.prefetch(key)
    return rows.get(key)


def save(rows: Rows, table: FormTable, account_id: str, form: SavedForm) -> None:
    """Replace a form in a unit of work, which has fetched it, or add it to the account's list.

    The versions of its wording and of the wording of the replaced form are saved too: a later
    release of the service can compute another version for the same form. One request for a new
    form.
    """
    key, wordings = Key(table.row, form.id, DOCUMENT), [FormWording.of(form)]
    row = rows.get(key)
    if row:
        wordings.append(FormWording.of(type(form).model_validate_json(row.document)))
    else:
        row = rows.create(key)
        row.account_id = account_id
        _append(rows, table, account_id, form.id)
    row.document = form.model_dump_json().encode()
    for wording in wordings:
        version = Key(table.row, account_key(form.id, wording.version), VERSION)
        rows.set(version, table.row.account_id, account_id)
        rows.set(version, table.row.document, wording.content())


def _append(rows: Rows, table: FormTable, account_id: str, form_id: str) -> None:
    """Add the summary of a new form at the end of the account's list."""
    counter = counter_key(account_id, table.listed)
    rows.prefetch(counter)
    row = rows.create(Key(table.row, form_id, SUMMARY))
    row.account_id, row.submission_count = account_id, 0
    row.list_at(account_id, next_position(rows, counter))
