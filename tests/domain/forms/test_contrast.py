"""Tests of the contrast of colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.forms.contrast import contrast, is_dark, legible, visible_fill

HEXADECIMAL = st.from_regex(r"#([0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})", fullmatch=True)


@given(HEXADECIMAL, HEXADECIMAL, st.sampled_from([3.0, 4.5]))
def test_legible_colour_has_minimum_contrast(
    foreground: str, background: str, minimum: float
) -> None:
    assert contrast(legible(foreground, background, minimum), background) >= minimum


@pytest.mark.parametrize(
    ("foreground", "background"), [("#fff", "#f2b01e"), ("#111", "#14181d"), ("#ddd", "#ddd")]
)
def test_colour_on_the_wrong_side_of_its_background_gets_twice_the_contrast(
    foreground: str, background: str
) -> None:
    assert contrast(legible(foreground, background, 4.5), background) >= 9
    assert contrast(legible("#f2b01e", "#fff", 4.5), "#fff") < 6


def test_colour_with_enough_contrast_is_unchanged() -> None:
    assert legible("#767676", "#ffffff", 4.5) == "#767676"
    assert legible("#777777", "#ffffff", 4.5) != "#777777"


@pytest.mark.parametrize(
    ("colour", "minimum"),
    [("#111111", 12.0), ("#4a235a", 3.0), ("#2563eb", 3.0), ("#ffffff", 12.0)],
)
def test_fill_is_visible_and_black_is_not_grey(colour: str, minimum: float) -> None:
    ratio = contrast(visible_fill(colour, "#14181d"), "#14181d")
    assert minimum <= ratio < minimum + 6


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
