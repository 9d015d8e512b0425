"""Test which record an id, a name or a beginning selects."""

import pytest

from admin.domain.selection import select
from chalicelib.domain.errors import Conflict, NotFound

RECORDS = [("4f1c-1", "paris", "Paris Marais"), ("4f1c-2", "lyon", "Lyon"), ("9a", "", "Lyonnais")]


def selected(text: str) -> str:
    return select(text, RECORDS, lambda record: record, "store")[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4f1c-2", "4f1c-2"),
        ("LYON", "4f1c-2"),
        ("paris marais", "4f1c-1"),
        ("Par", "4f1c-1"),
        (" lyonn ", "9a"),
        ("9a", "9a"),
    ],
)
def test_name_or_unique_beginning_selects_record(text: str, expected: str) -> None:
    assert selected(text) == expected


@pytest.mark.parametrize("text", ["Rabat", "Pa", ""])
def test_unknown_name_or_too_short_beginning_is_not_found(text: str) -> None:
    with pytest.raises(NotFound):
        selected(text)


def test_beginning_of_several_records_names_them() -> None:
    with pytest.raises(Conflict, match="'4f1c' is not unique: 4f1c-1 paris Paris Marais, 4f1c-2"):
        selected("4f1c")


def test_name_of_several_records_is_not_unique() -> None:
    twice = [*RECORDS, ("7b", "", "lyon")]
    with pytest.raises(Conflict):
        select("Lyon", twice, lambda record: record, "store")
