"""Warn about the appearance of a form: low contrast, and fonts that pages do not load.

A form with low contrast is valid, but some respondents cannot read the form.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from chalicelib.domain.forms.contrast import contrast, is_dark
from chalicelib.domain.forms.definitions.form import FormDefinition
from chalicelib.domain.forms.web_url import is_font_file_url, page_origin
from chalicelib.domain.input_errors import InputError, json_pointer

_TEXT: Final = 4.5
_LARGE_TEXT: Final = 3.0
_GRAPHIC: Final = 3.0

_LIGHT: Final = {
    "text": "#1d2733",
    "secondary text": "#5b6673",
    "background": "#ffffff",
    "accent": "#14617a",
    "field": "#ffffff",
    "border": "#7b8794",
    "button text": "#ffffff",
}
_DARK: Final = {
    "text": "#e9edf2",
    "secondary text": "#a9b4c0",
    "background": "#14181d",
    "accent": "#6cc3dd",
    "field": "#1c2229",
    "border": "#7f8b98",
    "button text": "#06222c",
}
"""The default colours of pages, for colours that a definition does not set; see `page.css`."""

_STYLE: Final = "/generalStyle/"
_FOOTER: Final = "/footer/"
_THANKS: Final = "/submission/"


@dataclass(frozen=True)
class _Pair:
    """Two adjacent colours.

    Attributes:
        foreground, background: the properties that can set the colour, most specific first, and
            then the name of the default colour.
        minimum: the minimum contrast ratio in WCAG 2.2, success criteria 1.4.3 and 1.4.11.
    """

    foreground: tuple[str, ...]
    background: tuple[str, ...]
    minimum: float = _TEXT


_PAGE: Final = (f"{_STYLE}backgroundColor", "background")
_CARD: Final = (f"{_STYLE}cardBackgroundColor", f"{_STYLE}zoneColor", *_PAGE)
_FIELD: Final = (f"{_STYLE}fieldBackgroundColor", "field")
_INK: Final = (f"{_STYLE}textColor", "text")
_ACCENT: Final = (f"{_STYLE}accentColor", "accent")
_TITLE: Final = (f"{_STYLE}titleColor", *_INK)
_SUBTITLE: Final = (f"{_STYLE}subtitleColor", "secondary text")

_PAIRS: Final = (
    _Pair(_INK, _PAGE),
    _Pair(_TITLE, _PAGE, _LARGE_TEXT),
    _Pair(_SUBTITLE, _PAGE),
    _Pair(_ACCENT, _PAGE),
    _Pair((f"{_STYLE}groupColor", *_INK), (f"{_STYLE}zoneColor", *_PAGE), _LARGE_TEXT),
    _Pair((f"{_STYLE}labelColor", *_INK), _CARD),
    _Pair((f"{_STYLE}placeholderColor", "secondary text"), _FIELD),
    _Pair((f"{_STYLE}fieldOptionColor", *_INK), _FIELD),
    _Pair((f"{_STYLE}fieldBorderColor", "border"), _CARD, _GRAPHIC),
    _Pair(("text",), _FIELD),
    _Pair(
        (f"{_STYLE}buttonTextColor", "button text"), (f"{_STYLE}buttonBackgroundColor", *_ACCENT)
    ),
    _Pair((f"{_STYLE}buttonTextColor", "button text"), _ACCENT),
    _Pair((f"{_STYLE}starBorderColor",), _CARD, _GRAPHIC),
    _Pair((f"{_FOOTER}textColor", "text"), (f"{_FOOTER}backgroundColor", *_PAGE)),
    _Pair((f"{_FOOTER}iconColor",), (f"{_FOOTER}backgroundColor", *_PAGE), _GRAPHIC),
    _Pair((f"{_THANKS}titleColor", *_TITLE), _PAGE, _LARGE_TEXT),
    _Pair((f"{_THANKS}subtitleColor", *_SUBTITLE), _PAGE),
)


_HOSTS: Final = "from hosts with ASCII letters, digits, '-' and '.'"
_IMAGES: Final = ("logo", "footer_logo", "cover", "submission_image")


def appearance_warnings(definition: FormDefinition) -> Iterator[InputError]:
    """Yield warnings for an ignored font, ignored images and colours with too low contrast."""
    font = definition.general_style.font
    if font.url and not is_font_file_url(font.url):
        yield InputError(
            json_pointer("generalStyle", "font", "url"),
            "no_font_file",
            f"Pages load only font files over https (.woff2, .woff, .ttf or .otf), {_HOSTS}.",
        )
    for name in _IMAGES:
        image = getattr(definition, name)
        if image and image.url and not page_origin(image.url):
            yield InputError(
                json_pointer(type(definition).model_fields[name].alias or name, "url"),
                "image_not_displayed",
                f"Pages display only images {_HOSTS}.",
            )
    configured = dict(_configured(definition))
    colours = {**_defaults(configured), **configured}
    checked: set[tuple[str, str]] = set()
    for pair in _PAIRS:
        foreground = next((name for name in pair.foreground if name in colours), "")
        background = next(name for name in pair.background if name in colours)
        is_default = not {foreground, background} & configured.keys()
        if not foreground or is_default or (foreground, background) in checked:
            continue
        checked.add((foreground, background))
        ratio = contrast(colours[foreground], colours[background])
        if ratio < pair.minimum:
            yield _low_contrast(foreground, background, ratio, pair.minimum, colours)


def _low_contrast(
    foreground: str, background: str, ratio: float, minimum: float, colours: Mapping[str, str]
) -> InputError:
    other = background if foreground.startswith("/") else foreground
    pointer = foreground if foreground.startswith("/") else background
    name = other if other.startswith("/") else f"the default {other}"
    # Round down: a ratio below the minimum must not look like the minimum.
    return InputError(
        pointer,
        "low_contrast",
        f"The contrast of {colours[pointer]} with {colours[other]} ({name}) is"
        f" {int(ratio * 100) / 100:.2f}; WCAG 2.2 requires at least {minimum:g}.",
    )


def _configured(definition: FormDefinition) -> Iterator[tuple[str, str]]:
    """Yield the pointer and the value of each colour that the definition sets."""
    parts = {
        _STYLE: definition.general_style,
        _FOOTER: definition.footer,
        _THANKS: definition.submission,
    }
    for prefix, part in parts.items():
        for name, field in type(part).model_fields.items():
            if name.endswith("_color") and (value := getattr(part, name)):
                yield prefix + (field.alias or name), value


def _defaults(configured: Mapping[str, str]) -> Mapping[str, str]:
    background = configured.get(_PAGE[0])
    return _DARK if background and is_dark(background) else _LIGHT
