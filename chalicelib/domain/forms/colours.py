"""The colours of a form's pages: which ones are adjacent, and how pages keep them legible.

A definition can set colours with too little contrast. Pages then display darker or lighter ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chalicelib.domain.forms.contrast import contrast, is_dark, legible, visible_fill

_TEXT: Final = 4.5
_LARGE_TEXT: Final = 3.0
_GRAPHIC: Final = 3.0

_LIGHT: Final = {
    "text": "#1d2733",
    "secondary text": "#5b6673",
    "background": "#f4f6f8",
    "accent": "#14617a",
    "field": "#ffffff",
    "border": "#7b8794",
    "button text": "#ffffff",
}
_DARK: Final = {
    "text": "#e9edf2",
    "secondary text": "#a9b4c0",
    "background": "#1b2128",
    "accent": "#6cc3dd",
    "field": "#1c2229",
    "border": "#7f8b98",
    "button text": "#06222c",
}
"""The default colours of pages, for colours that a definition does not set; see `page.css`.

The background is that of the page or the card on which texts have less contrast.
"""

_STYLE: Final = "/generalStyle/"
_FOOTER: Final = "/footer/"
_THANKS: Final = "/submission/"


@dataclass(frozen=True)
class _Pair:
    """Two adjacent colours.

    Attributes:
        name: the custom property of the style sheet that contains the foreground.
        foreground, background: the properties that can set the colour, most specific first, and
            then the name of the default colour.
        minimum: the minimum contrast ratio in WCAG 2.2, success criteria 1.4.3 and 1.4.11.
    """

    name: str
    foreground: tuple[str, ...]
    background: tuple[str, ...]
    minimum: float = _TEXT


_ACCENTS: Final = {
    f"{_STYLE}accentColor": "accent",
    f"{_STYLE}buttonBackgroundColor": "button-background",
}
"""The colours that pages lighten for dark mode, and their custom properties."""

_PAGE: Final = (f"{_STYLE}backgroundColor", "background")
_CARD: Final = (f"{_STYLE}cardBackgroundColor", f"{_STYLE}zoneColor", *_PAGE)
_FIELD: Final = (f"{_STYLE}fieldBackgroundColor", "field")
_INK: Final = (f"{_STYLE}textColor", "text")
_ACCENT: Final = (f"{_STYLE}accentColor", "accent")
_TITLE: Final = (f"{_STYLE}titleColor", *_INK)
_SUBTITLE: Final = (f"{_STYLE}subtitleColor", "secondary text")

_BUTTON_TEXT: Final = (f"{_STYLE}buttonTextColor", "button text")
_BUTTON: Final = (f"{_STYLE}buttonBackgroundColor", *_ACCENT)
_FOOTER_PAGE: Final = (f"{_FOOTER}backgroundColor", *_PAGE)

_PAIRS: Final = (
    _Pair("text", _INK, _PAGE),
    _Pair("title", _TITLE, _PAGE, _LARGE_TEXT),
    _Pair("subtitle", _SUBTITLE, _PAGE),
    _Pair("accent-ink", _ACCENT, _PAGE),
    _Pair("accent-mark", _ACCENT, _FIELD, _GRAPHIC),
    _Pair("group", (f"{_STYLE}groupColor", *_INK), (f"{_STYLE}zoneColor", *_PAGE), _LARGE_TEXT),
    _Pair("label", (f"{_STYLE}labelColor", *_INK), _CARD),
    _Pair("placeholder", (f"{_STYLE}placeholderColor", "secondary text"), _FIELD),
    _Pair("field-option", (f"{_STYLE}fieldOptionColor", *_INK), _FIELD),
    _Pair("field-border", (f"{_STYLE}fieldBorderColor", "border"), _CARD, _GRAPHIC),
    _Pair("input", ("text",), _FIELD),
    _Pair("button-ink", _BUTTON_TEXT, _BUTTON),
    _Pair("accent-text", _BUTTON_TEXT, _ACCENT),
    _Pair("star-border", (f"{_STYLE}starBorderColor",), _CARD, _GRAPHIC),
    _Pair("footer-text", (f"{_FOOTER}textColor", "text"), _FOOTER_PAGE),
    _Pair("footer-icon", (f"{_FOOTER}iconColor",), _FOOTER_PAGE, _GRAPHIC),
    _Pair("thanks-title", (f"{_THANKS}titleColor", *_TITLE), _PAGE, _LARGE_TEXT),
    _Pair("thanks-subtitle", (f"{_THANKS}subtitleColor", *_SUBTITLE), _PAGE),
)


@dataclass(frozen=True)
class ReplacedColour:
    """A colour with too little contrast, and the colour that pages display instead.

    Attributes:
        name: the custom property of the style sheet that receives the displayed colour.
        foreground, background: JSON pointers into the definition, or names of default colours. At
            least one of them is a pointer.
        ratio: the contrast of the two colours.
    """

    name: str
    foreground: str
    background: str
    foreground_colour: str
    background_colour: str
    ratio: float
    minimum: float
    displayed: str


def configured_colours(general_style: Any, footer: Any, submission: Any) -> dict[str, str]:
    """Return the colours that a form sets, by JSON pointer."""
    parts = {_STYLE: general_style, _FOOTER: footer, _THANKS: submission}
    return {
        prefix + (field.alias or name): value
        for prefix, part in parts.items()
        for name, field in type(part).model_fields.items()
        if name.endswith("_color") and (value := getattr(part, name))
    }


def suits_dark_mode(configured: Mapping[str, str]) -> bool:
    """Return whether a form sets only colours that also suit the default dark background."""
    return configured.keys() <= {*_ACCENTS, _BUTTON_TEXT[0]}


def dark_mode_colours(configured: Mapping[str, str]) -> dict[str, str]:
    """Return the custom properties that are different in dark mode.

    Accents are lightened until they are visible on the dark background.
    """
    accents = {
        name: visible_fill(configured[name], _DARK["background"])
        for name in _ACCENTS.keys() & configured.keys()
    }
    return (
        {replaced.name: "initial" for replaced in replaced_colours(configured)}
        | {_ACCENTS[name]: colour for name, colour in accents.items()}
        | {
            replaced.name: replaced.displayed
            for replaced in replaced_colours({**configured, **accents}, _DARK)
        }
    )


def replaced_colours(
    configured: Mapping[str, str], defaults: Mapping[str, str] | None = None
) -> Iterator[ReplacedColour]:
    """Yield the colours that pages replace because of their contrast.

    Args:
        configured: the colours of the form by JSON pointer; see `configured_colours`.
        defaults: the other colours. By default, the form's background selects them.
    """
    background = configured.get(_PAGE[0])
    defaults = defaults or (_DARK if background and is_dark(background) else _LIGHT)
    colours = {**defaults, **configured}
    for pair in _PAIRS:
        front = next((name for name in pair.foreground if name in colours), "")
        back = next(name for name in pair.background if name in colours)
        if not front or not {front, back} & configured.keys():
            continue
        ratio = contrast(colours[front], colours[back])
        if ratio < pair.minimum:
            displayed = legible(colours[front], colours[back], pair.minimum)
            yield ReplacedColour(
                pair.name,
                front,
                back,
                colours[front],
                colours[back],
                ratio,
                pair.minimum,
                displayed,
            )
