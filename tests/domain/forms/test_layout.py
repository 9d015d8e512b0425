"""Tests of the order in which a page displays fields and groups."""

from typing import Any

from chalicelib.domain.forms.layout import fields_in_order, sections_of
from tests.domain.forms.factories import field, saved_contact_form


def arranged(fields: list[dict[str, Any]], *groups: dict[str, Any]) -> list[Any]:
    """Return the name of each section with the keys of the fields in its rows."""
    form = saved_contact_form(fields=fields, fieldGroups=list(groups))
    return [
        (section.name, [[shown.key for shown in row] for row in section.rows])
        for section in sections_of(form.fields, form.field_groups)
    ]


def at(key: str, row: int, column: int = 0, group: str = "") -> dict[str, Any]:
    """Return the definition of a field at a position."""
    return field(key, verticalIndex=row, horizontalIndex=column, group=group)


def test_fields_of_one_row_are_ordered_by_column() -> None:
    assert arranged([at("b", 0, 1), at("c", 1), at("a", 0, 0)]) == [
        ("", [["a", "b"]]),
        ("", [["c"]]),
    ]


def test_groups_are_ordered_by_their_own_index() -> None:
    groups = (
        {"key": "one", "name": "One", "verticalIndex": 2},
        {"key": "two", "name": "Two", "verticalIndex": 1},
    )
    assert arranged([at("a", 0, group="one"), at("b", 5, group="two")], *groups) == [
        ("Two", [["b"]]),
        ("One", [["a"]]),
    ]


def test_row_without_group_precedes_group_with_greater_indexes() -> None:
    group = {"key": "one", "name": "One"}
    fields = [at("last", 9), at("a", 1, group="one"), at("b", 2, group="one"), at("first", 0)]
    assert arranged(fields, group) == [
        ("", [["first"]]),
        ("One", [["a"], ["b"]]),
        ("", [["last"]]),
    ]


def test_group_precedes_row_with_same_index() -> None:
    fields = [at("loose", 1), at("a", 1, group="one")]
    assert arranged(fields, {"key": "one", "name": "One"}) == [
        ("One", [["a"]]),
        ("", [["loose"]]),
    ]


def test_group_without_fields_is_omitted() -> None:
    assert arranged([at("a", 0)], {"key": "empty", "name": "Empty"}) == [("", [["a"]])]


def test_fields_of_saved_form_are_in_display_order() -> None:
    groups = [{"key": "one", "name": "One"}, {"key": "two", "name": "Two"}]
    fields = [at("second", 0, group="two"), at("first", 1, group="one"), at("third", 2)]
    form = saved_contact_form(fields=fields, fieldGroups=groups)
    assert [shown.key for shown in fields_in_order(form)] == ["first", "second", "third"]
