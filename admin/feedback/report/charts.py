"""Draw bar charts as SVG. The charts contain their labels as text, and no scripts or fonts.

docs/decisions/report-charts.md compares this module with chart libraries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET

from markupsafe import Markup

_WIDTH: Final = 720
_NARROW_WIDTH: Final = 360
"""The width of charts with few columns, so that a phone shows them whole with readable texts."""

_MAX_NARROW: Final = 11
"""The number of columns up to which a chart is narrow: the eleven ratings."""

_COLUMN_HEIGHT: Final = 150
_LABEL_HEIGHT: Final = 22
_MAX_COLUMN: Final = 90
_ROW_HEIGHT: Final = 26
_NAME_WIDTH: Final = 210
_VALUE_WIDTH: Final = 150
_MAX_NAME: Final = 30
_MAX_LABELS: Final = 14


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


def column_chart(title: str, bars: Sequence[Bar], highest: float | None = None) -> Markup:
    """Return a chart with vertical bars. If there are many bars, only some have a label.

    Args:
        highest: the value of a bar with full height. By default, the highest value.
    """
    is_narrow = len(bars) <= _MAX_NARROW
    width = _NARROW_WIDTH if is_narrow else _WIDTH
    svg = _svg(title, _COLUMN_HEIGHT + 2 * _LABEL_HEIGHT, width)
    if is_narrow:
        svg.set("class", "narrow")
    step = min(width / max(len(bars), 1), _MAX_COLUMN)
    scale = _COLUMN_HEIGHT / _highest(bars, highest)
    every = -(-len(bars) // _MAX_LABELS)
    base = _LABEL_HEIGHT + _COLUMN_HEIGHT
    ET.SubElement(svg, "line", _numbers(x1=0, x2=width, y1=base, y2=base) | {"class": "axis"})
    for number, bar in enumerate(bars):
        height = (bar.value or 0) * scale
        center = step * (number + 0.5)
        _rectangle(svg, bar, center - step * 0.36, base - height, step * 0.72, height)
        if number % every == 0:
            _text(svg, bar.name, center, base + 16, "middle")
            if bar.value is not None:
                _text(svg, bar.text, center, base - height - 5, "middle", "value")
    return _markup(svg)


def row_chart(title: str, bars: Sequence[Bar], highest: float | None = None) -> Markup:
    """Return a chart with horizontal bars, one per row."""
    svg = _svg(title, _ROW_HEIGHT * len(bars))
    scale = (_WIDTH - _NAME_WIDTH - _VALUE_WIDTH) / _highest(bars, highest)
    for number, bar in enumerate(bars):
        top = _ROW_HEIGHT * number
        width = (bar.value or 0) * scale
        name = bar.name if len(bar.name) <= _MAX_NAME else f"{bar.name[: _MAX_NAME - 1]}…"
        _text(svg, name, _NAME_WIDTH - 8, top + 17, "end")
        _rectangle(svg, bar, _NAME_WIDTH, top + 4, width, _ROW_HEIGHT - 8)
        _text(svg, bar.text, _NAME_WIDTH + width + 8, top + 17, "start", "value")
    return _markup(svg)


def _highest(bars: Sequence[Bar], highest: float | None) -> float:
    return highest or max((bar.value or 0 for bar in bars), default=0) or 1


def _svg(title: str, height: float, width: int = _WIDTH) -> ET.Element:
    attributes = {"viewBox": f"0 0 {width} {height:g}", "role": "img", "aria-label": title}
    return ET.Element("svg", attributes)


def _rectangle(svg: ET.Element, bar: Bar, x: float, y: float, width: float, height: float) -> None:
    attributes = _numbers(x=x, y=y, width=width, height=height, rx=2)
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
