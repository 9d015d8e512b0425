"""Tests of reading definitions from YAML and JSON files."""

from pathlib import Path
from typing import Any

import pytest

from admin.services.definitions import files
from admin.services.definitions.files import read_files


def contents(path: Path, text: str) -> list[Any]:
    path.write_text(text, encoding="utf-8")
    definitions, problems = read_files([path])
    assert not problems
    return [definition.content for definition in definitions]


def problem(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (only,) = read_files([path])[1]
    return str(only)


def test_ambiguous_yaml_scalars_are_read_as_strings(tmp_path: Path) -> None:
    text = """
language: no
date: 2026-11-20T10:00:00Z
day: 2026-11-20
time: 12:30:45
phone: 0612345678
plus: +33 6
octal: 0o17
number: -12
half: 0.5
yes: true
none: null
empty:
"""
    assert contents(tmp_path / "a.yaml", text) == [
        {
            "language": "no",
            "date": "2026-11-20T10:00:00Z",
            "day": "2026-11-20",
            "time": "12:30:45",
            "phone": "0612345678",
            "plus": "+33 6",
            "octal": "0o17",
            "number": -12,
            "half": 0.5,
            "yes": True,
            "none": None,
            "empty": None,
        }
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "---\na: 1\n---\n---\na: 2\n"),
        ("a.yml", "[{a: 1}, {a: 2}]"),
        ("a.json", '\ufeff[{"a": 1}, {"a": 2}]'),
        ("a.jsonl", '{"a": 1}\n\n{"a": 2}\n'),
        ("a.NDJSON", '{"a": 1}\r\n{"a":\r 2}'),
    ],
)
def test_all_definitions_in_file_are_read(tmp_path: Path, name: str, text: str) -> None:
    assert contents(tmp_path / name, text) == [{"a": 1}, {"a": 2}]


def test_yaml_keys_override_merged_keys(tmp_path: Path) -> None:
    text = "- &first {a: 1, b: 1}\n- {<<: *first, b: 2}\n"
    assert contents(tmp_path / "a.yaml", text)[1] == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.txt", "", "Unknown file type (allowed: .yaml, "),
        ("a.yaml", "a: 1\na: 2\n", "Invalid YAML: line 2: duplicate key 'a'."),
        ("a.yaml", "a: !!python/object:os.system x", "Invalid YAML: line 1: could not "),
        ("a.yaml", "a: {", "Invalid YAML: line 1: "),
        ("a.yaml", "a: \x07", "Invalid YAML: "),
        ("a.yaml", f"a: 1\nb: {'1' * 5_000}", "Invalid YAML: line 2: invalid int value."),
        ("a.yaml", "a: !!int x", "Invalid YAML: line 1: invalid int value."),
        ("a.yaml", "a: !!float x", "Invalid YAML: line 1: invalid float value."),
        ("a.yaml", "a: !!bool maybe", "Invalid YAML: line 1: invalid bool value."),
        ("a.yaml", "a: !!timestamp 2026-11-20", "Invalid YAML: line 1: could not "),
        ("a.yaml", "a: !!set {b}", "Invalid YAML: line 1: could not "),
        ("a.json", f'{{"a": {"1" * 5_000}}}', "Contains a number with too many digits."),
        ("a.jsonl", f'{{"a": {"1" * 5_000}}}', "Line 1: Contains a number with too many digits."),
        ("a.json", '{"a":\n1 2}', "Line 2: Invalid JSON: "),
        ("a.json", '{"a": 1, "a": 2}', "Duplicate property 'a' in an object."),
        ("a.json", "[" * 100_000, "Nested too deeply."),
        ("a.json", b'{"a": "\xff"}', "Invalid UTF-8."),
        ("a.yaml", "", "Contains no definition."),
        ("a.yaml", "# Nothing yet.\n", "Contains no definition."),
        ("a.json", "[]", "Contains no definition."),
        ("a.jsonl", "\n", "Contains no definition."),
    ],
)
def test_unreadable_file_is_reported(
    tmp_path: Path, name: str, text: str | bytes, expected: str
) -> None:
    message = problem(tmp_path / name, text)
    assert message.startswith(f"{tmp_path / name}: {expected}")
    assert "\n" not in message


def test_definitions_before_invalid_line_of_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    definitions, problems = read_files([path])
    assert [definition.content for definition in definitions] == [{"a": 1}]
    assert str(problems[0]).startswith(f"{path}, after definition 1: Line 2: Invalid JSON: ")


def problems_of(text: str, path: Path) -> list[str]:
    path.write_text(text)
    return [problem.input_error.detail for problem in read_files([path])[1]]


def test_yaml_file_with_over_100_aliases_is_rejected(tmp_path: Path) -> None:
    def file(aliases: int) -> str:
        return "a: &a x\nb:\n" + "- *a\n" * aliases

    assert problems_of(file(100), tmp_path / "a.yaml") == []
    assert problems_of(file(101), tmp_path / "a.yaml") == [
        "Invalid YAML: line 103: too many aliases (at most 100)."
    ]


def test_nested_yaml_aliases_are_rejected(tmp_path: Path) -> None:
    nested = "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]"
    assert problems_of(nested, tmp_path / "a.yaml") == [
        "Invalid YAML: line 3: the alias 'b' refers to other aliases."
    ]


@pytest.mark.parametrize("excess", [0, 1])
def test_lines_are_located_in_files_up_to_limit(
    excess: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file.json"
    file.write_text('[\n{"a": 1},\n{\n"a": [\n{"b/~": 2}]}]')
    monkeypatch.setattr(files, "MAX_LOCATED", len(file.read_text()) - excess)
    (_, second), _ = read_files([file])
    located = [second.line_of(pointer) for pointer in ("", "/a", "/a/0/b~1~0", "/missing")]
    assert located == ([None] * 4 if excess else [3, 4, 5, 3])
