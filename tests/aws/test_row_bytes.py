"""Tests of the computation of the row sizes that DynamoDB bills."""

from typing import Any

import pytest

from tests.aws.capacity import row_bytes


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ({"name": {"S": "Zoé"}}, 4 + 4),
        ({"n": {"N": "12345"}}, 1 + 4),
        ({"b": {"B": b"12"}, "set": {"SS": ["a", "bc"]}}, 1 + 2 + 3 + 3),
        ({"yes": {"BOOL": True}, "no": {"NULL": True}}, 3 + 1 + 2 + 1),
        ({"l": {"L": [{"S": "a"}]}, "m": {"M": {"k": {"S": "v"}}}}, 1 + 3 + 2 + 1 + 3 + 2 + 1),
    ],
)
def test_row_size_includes_attribute_names_and_values(row: dict[str, Any], size: int) -> None:
    assert row_bytes(row) == size
