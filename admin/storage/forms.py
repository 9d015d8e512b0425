"""Save forms, and load and correct their submission counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from pynamodb.expressions.condition import Condition

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.ids import new_id
from chalicelib.storage import account_changes, counters, lists
from chalicelib.storage.counters import counter_key
from chalicelib.storage.dynamodb.table import Key, account_key, read_together
from chalicelib.storage.dynamodb.transactions import try_write
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows, transaction
from chalicelib.storage.forms import DOCUMENT, SUMMARY, VERSION, FormTable, StoredForm


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
    row, actions = table.row(form_id, SUMMARY), table.row.changes(submission_count=number)
    is_unchanged = table.row.has(revision=read.revision)
    return try_write(lambda: row.update(actions, is_unchanged))


def save(
    table: FormTable,
    account_id: str,
    form: SavedForm,
    earlier: SavedForm | None = None,
    changes: Iterable[AccountChange] = (),
) -> None:
    """Replace the form with this id, or add a form at the end of the account's list.

    The versions of its wording and of the wording of the replaced form are saved too: a later
    release of the service can compute another version for the same form.

    Args:
        earlier: the form as it was read; None for a new form.
        changes: the changes to add to the account's history, in the same transaction.

    Raises:
        Contention: the form has changed since it was read, or the account's counter is
            contended.
    """
    counter_row = counter_key(account_id, table.listed)
    rows_of_form = [Key(table.row, form.id, part) for part in (SUMMARY, DOCUMENT)]
    read = Rows()
    read.prefetch(counter_row, *rows_of_form)
    counter, (summary, stored) = read.known(counter_row), map(read.known, rows_of_form)
    document = stored.document if stored and stored.document else None
    if (type(form).model_validate_json(document) if document else None) != earlier:
        raise Contention(condition_failed=True)
    wordings = [FormWording.of(each) for each in (form, earlier) if each]
    versions = {wording.version: wording.content() for wording in wordings}
    row, is_new = partial(table.row, account_id=account_id), table.row.has(form_id=None)
    with transaction() as write:
        if not summary:
            total = counters.total_of(counter)
            counters.increment_total(write, account_id, table.listed, read=total)
            listing = lists.at_position(account_id, total + 1)
            write.save(row(form.id, SUMMARY, submission_count=0, **listing), is_new)
        write.save(
            row(form.id, DOCUMENT, document=form.model_dump_json().encode(), version=new_id()),
            _is_unchanged(table, form.id, stored.version) if stored else is_new,
        )
        for version, wording in versions.items():
            write.save(row(account_key(form.id, version), VERSION, document=wording))
        account_changes.add(write, account_id, changes)


def replace_document(table: FormTable, read: StoredForm, document: bytes) -> bool:
    """Replace the document of a form. Return False if the form has changed. One request.

    Args:
        read: the form, as `find` returned it.
    """
    row = table.row(read.form_id, DOCUMENT)
    actions = table.row.changes(document=document, version=new_id())
    is_unchanged = _is_unchanged(table, read.form_id, read.version)
    return try_write(lambda: row.update(actions, is_unchanged))


def _is_unchanged(table: FormTable, form_id: str, version: str | None) -> Condition:
    return table.row.has(form_id=form_id, version=version)
