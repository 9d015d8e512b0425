"""Draw charts as SVG. The charts contain their labels as text, and no scripts or fonts.

All charts have the width of a phone, so that they are readable there without scrolling.
docs/decisions/report-charts.md compares this module with chart libraries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final
from xml.etree import ElementTree as ET

from markupsafe import Markup

_WIDTH: Final = 360
_COLUMN_HEIGHT: Final = 120
_LABEL_HEIGHT: Final = 22
_LETTER: Final = 7
"""The width of a letter."""

_FONT_SIZE: Final = 12
_MAX_COLUMN: Final = 60


@dataclass(frozen=True)
class Bar:
    """A bar of a chart.

    Attributes:
        name: the label of the bar.
        value: the length of the bar; None for a gap.
        text: the value as displayed next to the bar.
        style: the CSS class of the bar: ``low``, ``middle``, ``high`` or ``plain``.
    """

    name: str
    value: float | None
    text: str
    style: str = "plain"


def column_chart(
    title: str,
    bars: Sequence[Bar],
    highest: float | None = None,
    lowest: float = 0,
    *,
    is_right_to_left: bool = False,
) -> Markup:
    """Return a chart with vertical bars. If there are many bars, only some have a label.

    Args:
        highest: the value of a bar with full height. By default, the highest value.
        lowest: the lowest value. Bars with negative values go down from the axis.
        is_right_to_left: whether the first bar is on the right.
    """
    highest = highest or max((bar.value or 0 for bar in bars), default=0) or 1
    labels = 3 if lowest < 0 else 2  # above the bars, below negative bars, and the names
    height = _COLUMN_HEIGHT + labels * _LABEL_HEIGHT
    attributes = {"viewBox": f"0 0 {_WIDTH} {height}", "role": "img", "aria-label": title}
    svg = ET.Element("svg", attributes)
    step = min(_WIDTH / max(len(bars), 1), _MAX_COLUMN)
    scale = _COLUMN_HEIGHT / (highest - lowest)
    longest_name, longest_text = (
        max(map(len, texts), default=0) * _LETTER
        for texts in ([bar.name for bar in bars], [bar.text for bar in bars])
    )
    every = ceil((longest_name + 2 * _LETTER) / step)
    size = min(1, every * step / (longest_text + _LETTER)) * _FONT_SIZE
    base = _LABEL_HEIGHT + highest * scale
    ET.SubElement(svg, "line", _numbers(x1=0, x2=_WIDTH, y1=base, y2=base) | {"class": "axis"})
    for number, bar in enumerate(bars):
        length = (bar.value or 0) * scale
        center = step * (number + 0.5)
        if is_right_to_left:
            center = _WIDTH - center
        top = base - max(length, 0)
        place = _numbers(x=center - step * 0.36, y=top, width=step * 0.72, height=abs(length))
        rectangle = ET.SubElement(svg, "rect", place | {"class": bar.style})
        ET.SubElement(rectangle, "title").text = f"{bar.name}: {bar.text}"
        if number % every == 0:
            _text(svg, bar.name, center, height - 6, "label", _FONT_SIZE)
            if bar.value is not None:
                y = base - length + (14 if length < 0 else -5)
                _text(svg, bar.text, center, y, "value", size)
    figure = ET.Element("figure")
    ET.SubElement(figure, "figcaption").text = title
    figure.append(svg)
    return Markup(ET.tostring(figure, encoding="unicode"))  # noqa: S704 - ElementTree escapes texts


def _text(svg: ET.Element, text: str, x: float, y: float, style: str, size: float) -> None:
    half = len(text) * _LETTER / 2 * size / _FONT_SIZE
    inside = min(max(x, half), _WIDTH - half)
    attributes = _numbers(x=inside, y=y, **{"font-size": size})
    anchor = {"text-anchor": "middle", "class": style}
    ET.SubElement(svg, "text", attributes | anchor).text = text


def _numbers(**values: float) -> dict[str, str]:
    return {name: f"{value:.1f}" for name, value in values.items()}
