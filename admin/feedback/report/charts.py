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
_COLUMN_HEIGHT: Final = 150
_LABEL_HEIGHT: Final = 22
_MIN_LABEL: Final = 32
"""The distance of labels: of values such as ``100``, and of names such as ``23 Nov``."""

_LETTER: Final = 7
"""The width of a letter."""

_MAX_COLUMN: Final = 60
_ROW_HEIGHT: Final = 40
_MAX_NAME: Final = 36


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
    title: str, bars: Sequence[Bar], highest: float | None = None, lowest: float = 0
) -> Markup:
    """Return a chart with vertical bars. If there are many bars, only some have a label.

    Args:
        highest: the value of a bar with full height. By default, the highest value.
        lowest: the lowest value. Bars with negative values go down from the axis.
    """
    highest = _highest(bars, highest)
    labels = 3 if lowest < 0 else 2  # above the bars, below negative bars, and the names
    svg = _svg(title, _COLUMN_HEIGHT + labels * _LABEL_HEIGHT)
    step = min(_WIDTH / max(len(bars), 1), _MAX_COLUMN)
    scale = _COLUMN_HEIGHT / (highest - lowest)
    every = ceil(_MIN_LABEL / step)
    base = _LABEL_HEIGHT + highest * scale
    bottom = (labels - 1) * _LABEL_HEIGHT + _COLUMN_HEIGHT
    ET.SubElement(svg, "line", _numbers(x1=0, x2=_WIDTH, y1=base, y2=base) | {"class": "axis"})
    for number, bar in enumerate(bars):
        height = (bar.value or 0) * scale
        center = step * (number + 0.5)
        top = base - max(height, 0)
        _rectangle(svg, bar, center - step * 0.36, top, step * 0.72, abs(height))
        if number % every == 0:
            half = len(bar.name) * _LETTER / 2
            inside = min(max(center, half), _WIDTH - half)
            _text(svg, bar.name, inside, bottom + 16, "middle")
            if bar.value is not None:
                y = base - height + (14 if height < 0 else -5)
                _text(svg, bar.text, center, y, "middle", "value")
    return _markup(svg)


def row_chart(title: str, rows: Sequence[tuple[str, str, Sequence[Bar]]]) -> Markup:
    """Return a chart with horizontal bars. Each row has a name, a text, and one or more bars.

    The bars of a row stand in a line. Their values are shares of the width, from 0 to 1.
    """
    svg = _svg(title, _ROW_HEIGHT * len(rows))
    for number, (name, text, bars) in enumerate(rows):
        top, left = _ROW_HEIGHT * number, 0.0
        shown = name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
        _text(svg, shown, 0, top + 14, "start")
        _text(svg, text, _WIDTH, top + 14, "end", "value")
        track = _numbers(x=0, y=top + 19, width=_WIDTH, height=14) | {"class": "track"}
        ET.SubElement(svg, "rect", track)
        for bar in bars:
            width = _WIDTH * (bar.value or 0)
            _rectangle(svg, bar, left, top + 19, width, 14)
            left += width
    return _markup(svg)


def _highest(bars: Sequence[Bar], highest: float | None) -> float:
    return highest or max((bar.value or 0 for bar in bars), default=0) or 1


def _svg(title: str, height: float) -> ET.Element:
    attributes = {"viewBox": f"0 0 {_WIDTH} {height:g}", "role": "img", "aria-label": title}
    return ET.Element("svg", attributes)


def _rectangle(svg: ET.Element, bar: Bar, x: float, y: float, width: float, height: float) -> None:
    attributes = _numbers(x=x, y=y, width=width, height=height)
    rectangle = ET.SubElement(svg, "rect", attributes | {"class": bar.style})
    ET.SubElement(rectangle, "title").text = f"{bar.name}: {bar.text}"


def _text(
    svg: ET.Element, text: str, x: float, y: float, anchor: str, style: str = "label"
) -> None:
    attributes = _numbers(x=x, y=y) | {"text-anchor": anchor, "class": style}
    ET.SubElement(svg, "text", attributes).text = text


def _numbers(**values: float) -> dict[str, str]:
    return {name: f"{value:.1f}" for name, value in values.items()}


def _markup(svg: ET.Element) -> Markup:
    figure = ET.Element("figure")
    ET.SubElement(figure, "figcaption").text = svg.get("aria-label")
    figure.append(svg)
    return Markup(ET.tostring(figure, encoding="unicode"))  # noqa: S704 - ElementTree escapes texts
