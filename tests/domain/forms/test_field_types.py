"""Test that only the table of field types contains code for specific field types."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import chalicelib
from chalicelib.domain.forms import field_types
from chalicelib.domain.forms.field_types import FieldType

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
