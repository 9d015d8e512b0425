"""Test that no other deployed module branches on field types, and that all rows are complete."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import check_output
from types import ModuleType
from typing import Any

import pytest

import chalicelib
from chalicelib.domain.forms import field_types
from chalicelib.domain.forms.field_types import (
    Control,
    Display,
    FieldType,
    incomplete_rules,
)

COMPLETE = field_types.AnswerRules(
    example="3",
    options={str(n): n * 2 for n in range(1, 6)},
    labels=2,
    display=Display(Control.SCALE, ends="quality"),
)

ROOT = Path(chalicelib.__file__).parent
MODULES = sorted(set(ROOT.rglob("*.py")) - {Path(field_types.__file__)})


def lines_that_branch(source: str) -> set[int]:
    """Return the source lines that refer to a member of `FieldType`, or to its name."""
    lines = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(
                value=ast.Name(id="FieldType") | ast.Attribute(attr="FieldType"), attr=name
            ) if name in FieldType.__members__:
                lines.add(node.lineno)
            case ast.ImportFrom(names=names) if any(
                name.name == "FieldType" and name.asname for name in names
            ):
                lines.add(node.lineno)
        lines.update(
            part.lineno
            for selector in _selectors(node)
            for part in ast.walk(selector)
            if isinstance(part, ast.Constant) and part.value in FieldType.__members__
        )
    return lines


def _selectors(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare() | ast.Set() | ast.MatchValue():
            yield node
        case ast.Dict(keys=keys):
            yield from filter(None, keys)


def test_no_other_module_branches_on_field_type() -> None:
    lines = {
        str(module.relative_to(ROOT)): lines_that_branch(module.read_text()) for module in MODULES
    }

    assert {module: line_numbers for module, line_numbers in lines.items() if line_numbers} == {}


@pytest.mark.parametrize(
    "source",
    [
        "if field.type is FieldType.NPS: pass",
        "field_types.FieldType.NPS",
        "from chalicelib.domain.forms.field_types import FieldType as Type",
        "field.type == 'NPS'",
        "field.type in ('NPS', 'RATING')",
        "field.type is FieldType['NPS']",
        "RATED = {'NPS', 'RATING'}",
        "SCALES = {'NPS': 10}",
        "match field.type:\n    case 'NPS': pass",
    ],
)
def test_branch_on_field_type_is_detected(source: str) -> None:
    assert lines_that_branch(source)


def test_complete_rules_have_no_problem() -> None:
    assert incomplete_rules(COMPLETE) is None
    assert [kind for kind in FieldType if incomplete_rules(kind.rules)] == []
    assert [kind for kind in FieldType if kind.rules.value_error(kind.rules.example)] == []


def test_import_of_field_types_loads_no_library_of_formats() -> None:
    program = f"import sys, {field_types.__name__}; print('email_validator' in sys.modules)"
    assert check_output([sys.executable, "-c", program], text=True).strip() == "False"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"labels": 0}, "`labels` must be 2."),
        ({"display": Display(Control.SCALE)}, "A scale, and nothing else, needs `ends`."),
        ({"labels": 0, "display": Display(Control.STARS, ends="quality")}, "A scale, and"),
        ({"labels": 0, "display": Display(Control.INPUT)}, "The control input needs no options."),
        ({"options": {}}, "The control scale needs options."),
        ({"options": {}, "options_from_field": True}, "The control scale needs fixed options."),
        ({"options_from_field": True}, "Its options are fixed and from the field."),
        ({"labels": 0, "options": {"3": 1}, "display": Display(Control.STARS)}, "Stars need"),
        ({"options": {"3": 1}, "display": Display(Control.SMILEYS)}, "The control smileys needs"),
        ({"labels": 5, "display": Display(Control.BINARY)}, "The control binary needs the options"),
        ({"labels": 3, "display": Display(Control.OPTIONS)}, "`labels` must be 0 or 5."),
        ({"accepts_several_values": True}, "The control scale accepts one value."),
        ({"format": FieldType.DATE.rules.format}, "A type with options has no format."),
        ({"options": {"1": 2, "3": None}}, "Some options have no rating."),
        ({"options": {"1": 2, "3": 11}}, "Ratings are 0 to 10."),
        ({"example": "6"}, "The example is invalid."),
    ],
)
def test_incomplete_rules_are_found(changes: dict[str, Any], problem: str) -> None:
    found = incomplete_rules(replace(COMPLETE, **changes))
    assert found
    assert found.startswith(problem)


def test_module_with_incomplete_field_type_cannot_be_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Path(field_types.__file__).read_text()
    row = """
    MOOD = "MOOD", AnswerRules(
        example="3", options=_ONE_TO_FIVE, display=Display(Control.SCALE, ends="quality")
    )
"""
    module = ModuleType("incomplete_field_types")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(ValueError, match="MOOD: `labels` must be 2"):
        exec(compile(source + row, module.__name__, "exec"), vars(module))  # noqa: S102
