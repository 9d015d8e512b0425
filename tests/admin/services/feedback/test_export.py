"""Test that exported files contain no formulas, and that decoding restores every value."""

import csv
import errno
import gc
import json
import time
from datetime import date, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admin.services.feedback.export import writers
from admin.services.feedback.export.columns import Cell, _number, build_columns
from admin.services.feedback.export.writers import (
    WRITERS,
    Format,
    encode_cell,
    join_values,
    plain_text,
    xlsx_writer,
)
from admin.services.forms.manage import AccountForm
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import Conflict
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.work import WorkState
from tests.admin.services.feedback.xlsx_reader import read_sheet
from tests.docs.blocks import block
from tests.domain.feedback.factories import NOW, answer, build_feedback
from tests.domain.forms.factories import FORM, field, saved_contact_form, select

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("=+-@'\"; \t\r\n1a\\_x0041")
PARIS = ZoneInfo("Europe/Paris")
DOCUMENTED: dict[str, Any] = {}
"""The functions with which the documentation decodes an exported file."""

exec(  # noqa: S102 - the program is part of this repository
    block("docs/operating.md", "def decode_cell").text.partition("\nwith open")[0], DOCUMENTED
)
decode_cell, split_values = DOCUMENTED["decode_cell"], DOCUMENTED["split_values"]


@pytest.mark.parametrize(
    "text", ["+33 6 12 34 56 78", "+33612345678", "-12", "-12.5", "2026-11-20", "5", "a=b", "a-b"]
)
def test_cell_with_number_phone_number_or_plain_text_is_unchanged(text: str) -> None:
    assert encode_cell(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-1+cmd()",
        "@SUM(A1)",
        " =1",
        "\t=1",
        "\r=1",
        "\x00=1",
        "＝1",
        "'quoted",
        "+A1",
        "+1+A1",
    ],
)
def test_text_that_could_be_a_formula_starts_with_apostrophe(text: str) -> None:
    assert encode_cell(text).startswith(f"'{text[0]}")


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("\t\t=1", "'\t'\t'=1"),
        ("a\t \n=1", "a\t' \n'=1"),
        ("\t\t'a", "\t\t''a"),
        ("\t 'a", "\t 'a"),
        (";;=1", ";;'=1"),
        ("\t\ta", "\t\ta"),
    ],
)
def test_apostrophe_follows_each_separator_before_formula_or_quote(text: str, encoded: str) -> None:
    assert encode_cell(text) == encoded


@pytest.mark.parametrize("separator", ["\t", "\n", "\r", ";", "\t "])
@pytest.mark.parametrize("end", ["", "a", "=1", "'"])
def test_cell_with_many_separators_is_encoded_in_linear_time(separator: str, end: str) -> None:
    text = separator * 10_000 + end
    start = time.process_time()
    assert decode_cell(encode_cell(text)) == text
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize("separator", [";", "\t", "\n", "\r"])
def test_formula_after_separator_of_other_locales_starts_with_apostrophe(separator: str) -> None:
    assert encode_cell(f"a{separator}=1") == f"a{separator}'=1"


@given(TEXTS)
def test_decoded_cell_is_original_text(text: str) -> None:
    assert decode_cell(encode_cell(text)) == text


@given(st.lists(TEXTS.filter(bool), min_size=1))
@example(["; "])
@example(["a\\", ";b"])
def test_split_restores_joined_values(values: list[str]) -> None:
    assert split_values(join_values(values)) == values


@given(st.integers().map(str) | st.floats(allow_nan=False).map(str) | st.text("0123456789.-e"))
def test_number_cell_is_converted_back_to_same_text(text: str) -> None:
    assert str(_number(text)) == text


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), max_size=3))
def test_csv_file_restores_texts(rows: list[list[str]]) -> None:
    file = BytesIO()
    with WRITERS[Format.CSV](file, ["a", "b", "=c"]) as write:
        for row in rows:
            write(list(row))
    text = StringIO(file.getvalue().decode("utf-8-sig"), newline="")
    read = [[decode_cell(cell) for cell in row] for row in csv.reader(text)]
    assert read == [["a", "b", "=c"], *rows]


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=3))
@example(["_x0041_x0042_"])
@example(["a" * 40_000])
@example(["<r>&</r>", "<r></r>"])
@example(["a" * 16_000 + "<r>" + "a" * 15_993 + "</r>"])
def test_xlsx_file_restores_texts(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("export") / "texts.xlsx"
    titles = [f"title {number}" for number in range(len(texts))]
    with path.open("wb") as file, xlsx_writer(file, titles) as write:
        write(list(texts))
    (row,) = read_sheet(path, 1)[1:]
    restored = dict(zip(titles, row.values(), strict=True))
    pieces: dict[str, str] = {}
    for piece in read_sheet(path, 2)[1:]:
        assert piece["A"] == 2
        pieces[piece["B"]] = pieces.get(piece["B"], "") + piece["C"]
    assert list((restored | pieces).values()) == texts


def test_xlsx_cells_are_typed(tmp_path: Path) -> None:
    path = tmp_path / "typed.xlsx"
    row: list[Cell] = [
        "=1+1",
        -12.5,
        7,
        True,
        date(2026, 11, 20),
        date(1900, 1, 1),
        None,
        ["a", "b"],
    ]
    with path.open("wb") as file, xlsx_writer(file, list("ABCDEFGH")) as write:
        write(row)
    assert read_sheet(path, 1)[1] == {
        "A": "=1+1",
        "B": -12.5,
        "C": 7,
        "D": True,
        "E": 46346,
        "F": "1900-01-01",
        "H": "a; b",
    }


def test_xlsx_file_that_cannot_be_written_raises_error_of_operating_system() -> None:
    class FullDisk(BytesIO):
        has_failed = False

        def write(self, data: Any) -> int:
            if self.has_failed:
                return super().write(data)
            self.has_failed = True
            raise OSError(errno.ENOSPC, "No space left on device")

    file = FullDisk()
    with pytest.raises(OSError, match="No space left"), xlsx_writer(file, ["Id"]):
        pass
    gc.collect()  # While the file is open: xlsxwriter writes again when its objects are collected.


def test_xlsx_rejects_too_many_rows_and_columns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(writers, "MAX_XLSX_ROWS", 1)
    monkeypatch.setattr(writers, "MAX_XLSX_COLUMNS", 2)
    with (tmp_path / "a").open("wb") as file, xlsx_writer(file, ["a", "b"]) as write:
        write(["1", "2"])
        with pytest.raises(Conflict):
            write(["3", "4"])
    with (
        pytest.raises(Conflict),
        (tmp_path / "b").open("wb") as file,
        xlsx_writer(file, ["a", "b", "c"]),
    ):
        pass


def test_xlsx_rejects_too_many_pieces_of_long_texts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(writers, "MAX_XLSX_ROWS", 3)
    with (tmp_path / "a").open("wb") as file, xlsx_writer(file, ["a"]) as write:
        write(["a" * 3 * writers._MAX_CELL])
        with pytest.raises(Conflict):
            write(["a" * 2 * writers._MAX_CELL])


def exported() -> tuple[list[str], dict[str, Cell]]:
    """Return the titles of an export and the cells of one feedback record."""
    form = saved_contact_form(
        name="Contact",
        fields=[
            field("late", verticalIndex=2),
            field("age", "NUMBER", verticalIndex=1),
            select("topics", kind="MULTI_SELECT", verticalIndex=0),
            field("day", "DATE"),
        ],
    )
    ids = {f.key: f.id for f in form.fields}
    answers = [
        answer(key, *values, kind=kind).model_copy(update={"field_id": ids.get(key, key)})
        for key, values, kind in (
            ("age", ["-12.5"], "NUMBER"),
            ("topics", ["Yes", "No"], "MULTI_SELECT"),
            ("day", ["2026-11-20"], "DATE"),
            ("gone", ["x"], "TEXT"),
        )
    ]
    record = build_feedback(*answers, form_id=FORM, rating=3, labels={"table": "12"})
    stored = StoredFeedback(record, None, WorkState.DONE, is_test=True)
    account_form = AccountForm("account", FormKind.CONTACT_FORM, form, 1)
    wording = FormWording.of(form)
    earlier = [
        question.model_copy(update={"label": "How old?"} if question.key == "age" else {})
        for question in wording.questions
    ]
    columns = build_columns(
        [account_form], Directory.of([]), PARIS, lambda _: FormWording(questions=earlier)
    )
    return (
        [column.title for column in columns],
        {column.title: column.value_of(stored) for column in columns},
    )


def test_export_has_one_column_per_field_in_display_order() -> None:
    titles, cells = exported()
    assert titles[18:] == [
        "Topics [topics, several]",
        "Age [age]",
        "Late [late]",
        "Day [day]",
        "otherAnswers",
        "otherWording",
    ]
    assert cells["createdAt"] == datetime(2026, 11, 20, 11, tzinfo=PARIS)
    assert plain_text(cells["createdAt"]) == "2026-11-20T11:00:00.000+01:00"
    assert (cells["rating"], cells["isTest"], cells["Age [age]"]) == (3, True, -12.5)
    assert cells["Topics [topics, several]"] == ["Yes", "No"]
    assert cells["Day [day]"] == date(2026, 11, 20)
    assert cells["Late [late]"] is None
    assert cells["labels"] == {"table": "12"}
    assert cells["otherAnswers"] == {"gone": ["x"]}
    assert cells["otherWording"] == {"age": ["How old?", "-12.5"]}


def test_forms_with_same_labels_have_distinct_columns() -> None:
    forms = [
        AccountForm(
            "a", FormKind.CONTACT_FORM, saved_contact_form(id=form_id, fields=[field("why")]), 0
        )
        for form_id in (FORM, FORM.replace("1", "2"))
    ]
    columns = build_columns(forms, Directory.of([]), PARIS, lambda _: FormWording())
    titles = [column.title for column in columns]
    assert titles[18:20] == ["Contact: Why [why]", "Contact: Why [why] (2)"]
    assert len(set(titles)) == len(titles)


def test_jsonl_file_contains_typed_values() -> None:
    file = BytesIO()
    with WRITERS[Format.JSONL](file, ["a", "b", "c", "d"]) as write:
        write([None, -1.5, ["x", "y"], NOW])
    assert json.loads(file.getvalue()) == {
        "b": -1.5,
        "c": ["x", "y"],
        "d": "2026-11-20T10:00:00.000+00:00",
    }
