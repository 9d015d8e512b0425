"""Export an account's feedback to a file."""

from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from admin.domain.feedback_filter import FeedbackFilter
from admin.output_file import replaced_file
from admin.services.feedback.export.columns import build_columns
from admin.services.feedback.export.writers import WRITERS, Format, Separator, csv_writer
from admin.services.feedback.find import find_feedback
from admin.services.feedback.selection import require_selection
from admin.services.forms.manage import list_forms
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.wording import FormWording
from chalicelib.services.forms.wordings import forms_and_wordings

_GROUP_SIZE: Final = 100


def export_feedback(
    account_id: str,
    wanted: FeedbackFilter,
    file_format: Format,
    zone: ZoneInfo,
    output: Path,
    on_read: Callable[[int, int | None], None],
    separator: Separator = Separator.COMMA,
) -> int:
    """Write the feedback that the filter selects to a file. Return the number of rows.

    If the export fails, an existing file does not change. Only the current user can read the file.

    Args:
        on_read: called after each group of records that was read, with the number of records in the
            group and, if known, the expected total.
        separator: the separator of the cells of a CSV file.

    Raises:
        NotFound: the account does not have the selected form, store or brand.
        Conflict: the export is too large for the format.
        OSError: the file cannot be written.
    """
    form, directory = require_selection(account_id, wanted)
    forms = [form] if form else [each for kind in FormKind for each in list_forms(account_id, kind)]
    wordings: dict[str, FormWording] = {}
    columns = build_columns(forms, directory, zone, lambda record: wordings[record.id])
    is_total_known = wanted.since is None and wanted.until is None
    total = sum(form.submission_count for form in forms) if is_total_known else None
    is_csv = file_format is Format.CSV
    writer = partial(csv_writer, separator=separator) if is_csv else WRITERS[file_format]
    rows = 0
    with (
        replaced_file(output) as file,
        writer(file, [column.title for column in columns]) as write,
    ):
        found = find_feedback(account_id, wanted, on_read=lambda count: on_read(count, total))
        while group := list(islice(found, _GROUP_SIZE)):
            records = [stored.feedback for stored in group]
            wordings = {
                record.id: wording
                for record, (_, wording) in zip(records, forms_and_wordings(records), strict=True)
            }
            for stored in group:
                write([column.value_of(stored) for column in columns])
            rows += len(group)
    return rows
