"""Read the typed cells of an XLSX file, and fail if the file contains a formula."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

_NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPED = re.compile(r"_x([0-9a-fA-F]{4})_")


def read_sheet(path: Path, number: int) -> list[dict[str, Any]]:
    """Return the rows of a sheet. Each row is a dict from column letter to cell."""
    with ZipFile(path) as archive:
        root = ET.fromstring(archive.read(f"xl/worksheets/sheet{number}.xml"))  # noqa: S314
    assert root.find(f".//{_NAMESPACE}f") is None, "The sheet contains a formula."
    return [
        {re.sub(r"\d", "", cell.attrib["r"]): _value(cell) for cell in row.iter(f"{_NAMESPACE}c")}
        for row in root.iter(f"{_NAMESPACE}row")
    ]


def _value(cell: Any) -> Any:
    match cell.attrib.get("t"):
        case "inlineStr":
            text = "".join(part.text or "" for part in cell.iter(f"{_NAMESPACE}t"))
            return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        case "b":
            return cell.find(f"{_NAMESPACE}v").text == "1"
    return float(cell.find(f"{_NAMESPACE}v").text)
