"""Tests of the colours of rating options."""

import re

import pytest

from chalicelib.domain.forms.contrast import TONES, levels
from chalicelib.web.pages.assets import STYLE_SHEET, asset_text


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [
        (range(11), [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]),
        ([2, 4, 6, 8, 10], [0, 1, 2, 3, 4]),
        ([10, 0], [4, 0]),
    ],
)
def test_tones_rise_from_worst_to_best(ratings: list[int], expected: list[int]) -> None:
    assert levels(ratings) == expected


def test_style_sheet_has_the_same_tones_at_the_same_options() -> None:
    css = asset_text(STYLE_SHEET)
    assert tuple(re.findall(r"--tone: (#[0-9a-f]{6})", css)) == TONES
    found = re.findall(r"\.scale label:nth-child\(n\+([0-9]+)\)[^}]* --tone", css)
    starts = [int(n) - 1 for n in found]
    assert starts == [levels(range(11)).index(level) for level in range(1, 5)]
