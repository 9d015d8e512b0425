"""Tests of the contrast of colours."""

import pytest

from chalicelib.domain.forms.contrast import contrast, is_dark


@pytest.mark.parametrize(
    ("foreground", "background", "ratio"),
    [
        ("#000", "#fff", 21.0),
        ("#FFFFFF", "#ffffff", 1.0),
        ("#767676", "#ffffff", 4.54),
        ("#777777", "#ffffff", 4.48),
        ("#949494", "#fff", 3.03),
        ("#00000000", "#fff", 1.0),
        ("#000f", "#ffff", 21.0),
        ("#00000080", "#ffffff", 3.98),
        ("#ffffff", "#00000080", 3.98),
    ],
)
def test_contrast_equals_ratio_defined_by_wcag(
    foreground: str, background: str, ratio: float
) -> None:
    assert contrast(foreground, background) == pytest.approx(ratio, abs=0.03)


@pytest.mark.parametrize(
    ("colour", "expected"), [("#000", True), ("#14181d", True), ("#fff", False), ("#0000", False)]
)
def test_dark_and_light_colours_are_distinguished(colour: str, expected: bool) -> None:
    assert is_dark(colour) == expected
