"""Test that files of purchases are read line by line."""

import tracemalloc
from pathlib import Path

import pytest

from admin.services.purchases.purchase_lines import UnreadableFile, open_purchases

LINES = 20_000
HEADER = "source,externalId,storeId,date"
COLUMNS = "source,externalId,storeId,date,customer.email,metadata.note"


def test_memory_does_not_depend_on_number_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "purchases.csv"
    row = "Site,{},f648f0af-0303-5230-b619-1c59f038ec1e,2026-11-20,customer-{}@example.test,note"
    path.write_text("\n".join([COLUMNS, *(row.format(n, n) for n in range(LINES))]))
    tracemalloc.start()
    with open_purchases(path) as purchases:
        assert purchases.total == LINES
        assert sum(1 for line in purchases.lines if not line.error) == LINES
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < path.stat().st_size / 4


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_read_with_any_line_break_and_byte_order_mark(
    tmp_path: Path, line_break: str, mark: str
) -> None:
    path = tmp_path / "purchases.csv"
    path.write_bytes((mark + line_break.join([HEADER, ",1,,", "", ",2,,", ""])).encode())
    with open_purchases(path) as purchases:
        lines = list(purchases.lines)
    assert purchases.total == 2
    assert [(line.number, line.definition) for line in lines] == [
        (2, {"externalId": "1"}),
        (4, {"externalId": "2"}),
    ]


def test_csv_row_is_read_as_purchase(tmp_path: Path) -> None:
    path = tmp_path / "purchases.csv"
    row = 'Site,1,,,a@example.com,TRUE," 12, by the ""sea"" ",\n'
    path.write_text(f"{HEADER},customer.email,customer.smsOptin,metadata.table,startDate\n{row}")
    with open_purchases(path) as purchases:
        (line,) = purchases.lines
    assert line.definition == {
        "source": "Site",
        "externalId": "1",
        "customer": {"email": "a@example.com", "smsOptin": True},
        "metadata": {"table": '12, by the "sea"'},
    }


def test_only_line_feed_and_carriage_return_end_csv_rows(tmp_path: Path) -> None:
    path = tmp_path / "purchases.csv"
    path.write_bytes(f'{HEADER},metadata.a\r,,,,1\u20282\r\n,,,,"3\r\n4"\n'.encode())
    with open_purchases(path) as purchases:
        found = [line.definition["metadata"]["a"] for line in purchases.lines]
    assert found == ["1\u20282", "3\r\n4"]


def test_carriage_return_does_not_end_json_line(tmp_path: Path) -> None:
    path = tmp_path / "purchases.jsonl"
    path.write_bytes(b'{"externalId":\r"1"}\r\n\r\n{"externalId": "2"}\r\n')
    with open_purchases(path) as purchases:
        lines = list(purchases.lines)
    assert purchases.total == 2
    assert [(line.number, line.definition) for line in lines] == [
        (1, {"externalId": "1"}),
        (3, {"externalId": "2"}),
    ]


@pytest.mark.parametrize("columns", ["customer,customer.email", "customer.email,customer"])
def test_invalid_object_column_does_not_stop_later_lines(tmp_path: Path, columns: str) -> None:
    path = tmp_path / "purchases.csv"
    path.write_text(f"{columns},{HEADER}\na,b,,1,,\n,,,2,,\n")
    with open_purchases(path) as purchases:
        first, second = purchases.lines
    assert isinstance(first.definition["customer"], str)  # a validation error of this line
    assert second.definition == {"externalId": "2"}


def test_number_with_too_many_digits_does_not_stop_later_lines(tmp_path: Path) -> None:
    path = tmp_path / "purchases.jsonl"
    path.write_text('{"externalId": ' + "1" * 5_000 + '}\n{"externalId": "2"}\n')
    with open_purchases(path) as purchases:
        first, second = purchases.lines
    assert first.error == "Contains a number with too many digits."
    assert second.definition == {"externalId": "2"}


@pytest.mark.parametrize("content", [b"externalId\n\x81", None])
def test_unreadable_file_is_rejected_before_its_first_line(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "purchases.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableFile), open_purchases(path):
        pytest.fail("The file was opened.")
