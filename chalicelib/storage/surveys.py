"""The table of surveys."""

from typing import Final

from chalicelib.storage.counters import Listed
from chalicelib.storage.forms import FormRow, FormsByBlock, FormTable


class SurveyRow(FormRow):
    """The document row or the summary row of a survey."""

    class Meta:
        name = "surveys"

    by_block = FormsByBlock()


surveys: Final = FormTable(SurveyRow, Listed.SURVEYS)
