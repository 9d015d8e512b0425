"""Show feedback records as rows of a table."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from admin.services.forms.manage import find_form
from admin.terminal import show_table
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType

_MAX_COMMENT: Final = 120


def show_list(directory: Directory, found: Sequence[StoredFeedback]) -> None:
    """Print one row for each feedback record, with the names of its form and its store."""

    @cache
    def form_name(kind: FormKind, form_id: str) -> str:
        form = find_form(kind, form_id)
        return form.saved.name if form else form_id

    show_table(
        ["Id", "Created", "Rating", "Store", "Form", "Language", "Test", "Comment"],
        [
            [
                stored.feedback.id,
                stored.feedback.created_at,
                stored.feedback.rating,
                directory.name_of(stored.feedback.store_id or ""),
                form_name(stored.feedback.kind, stored.feedback.form_id),
                stored.feedback.language.value,
                stored.is_test,
                comment_of(stored.feedback),
            ]
            for stored in found
        ],
        wide=["Form", "Language", "Test"],
    )


def comment_of(record: Feedback) -> str:
    """Return the start of the first long text, on one line; ``""`` if there is none.

    A short text is often a name.
    """
    comments = (a.values[0] for a in record.answers if a.type is FieldType.LONG_TEXT)
    comment = " ".join(next(comments, "").split())
    return comment if len(comment) <= _MAX_COMMENT else f"{comment[: _MAX_COMMENT - 1]}…"
