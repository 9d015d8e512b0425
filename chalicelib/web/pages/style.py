"""Convert the style of a form to CSS custom properties, and list the hosts of its images and font.

The style sheet `page.css` uses the custom properties and contains their default values. The
values of a saved form are checked again, because the form can have been saved before the current
rules applied.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from chalicelib.domain.forms.colours import (
    configured_colours,
    dark_mode_colours,
    replaced_colours,
    suits_dark_mode,
)
from chalicelib.domain.forms.contrast import is_dark
from chalicelib.domain.forms.presentation import Footer, GeneralStyle, Image, Radius, Submission
from chalicelib.domain.forms.web_url import is_font_file_url, page_origin
from chalicelib.services.caching import cached

_MAX_CACHED_STYLES: Final = 256
_COLOUR: Final = re.compile(r"#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")
_FONT_NAME: Final = re.compile(r"[\w][\w -]{0,60}")
_SAFE_IN_CSS: Final = ":/?#@!$&*+,;=%"
"""The characters of a URL that stay in a CSS string, besides letters, digits and ``-._~``."""
IN_DARK_MODE: Final = ".auto:not(:has(#light:target,#bare:target))"
"""The pages that follow the browser's scheme, without those in frames of light sites."""
IN_DARK_SITE: Final = ".auto:has(#dark:target,#bare-dark:target)"
"""The pages in frames of dark sites."""
_PREFIXES: Final = {"generalStyle": "", "footer": "footer-", "submission": "thanks-"}
_RADII: Final = {Radius.SHARP: "0", Radius.ROUNDED: "8px", Radius.PILL: "24px"}


@dataclass(frozen=True)
class PageStyle:
    """The style of a page.

    Attributes:
        css: the style sheet with the values of the definition.
        scheme: the class that selects the default colours: `light`, `dark`, or `auto` for the
            scheme that the browser requests.
        image_sources, font_source: the origins from which the Content-Security-Policy allows images
            and the font file.
    """

    css: str
    scheme: str
    image_sources: tuple[str, ...] = ()
    font_source: str = ""


PLAIN: Final = PageStyle(css="", scheme="auto")
"""The style of a page that belongs to no form."""


@cached(at_most=_MAX_CACHED_STYLES)
def style_of(
    style: GeneralStyle, footer: Footer, submission: Submission, images: tuple[Image | None, ...]
) -> PageStyle:
    """Return the style of a form's pages."""
    configured = configured_colours(style, footer, submission)
    valid = {name: colour for name, colour in configured.items() if _COLOUR.fullmatch(colour)}
    colours = {_property(pointer): colour for pointer, colour in valid.items()}
    legible = {replaced.name: replaced.displayed for replaced in replaced_colours(valid)}
    radii = {
        "field-radius": _RADII[style.field_radius],
        "button-radius": _RADII[style.button_radius],
        "card-radius": _RADII[getattr(style, "card_border_radius", Radius.SHARP)],
    }
    font, face = _font(style)
    css = face + _rule(":root", radii | colours | legible | font)
    background = colours.get("background")
    scheme = "dark" if background and is_dark(background) else "light"
    if suits_dark_mode(valid):
        scheme = "auto"
        dark = dark_mode_colours(valid)
        css += f"@media(prefers-color-scheme:dark){{{_rule(IN_DARK_MODE, dark)}}}"
        css += _rule(IN_DARK_SITE, dark)
    urls = [url for image in images if (url := image_url(image))]
    return PageStyle(
        css=css,
        scheme=scheme,
        image_sources=tuple(sorted({page_origin(url) for url in urls})),
        font_source=page_origin(style.font.url) if face else "",
    )


def image_url(image: Image | None) -> str:
    """Return the URL of an image; ``""`` if there is none, or if pages must not load it."""
    return image.url if image and page_origin(image.url) else ""


def _rule(selector: str, properties: Mapping[str, str]) -> str:
    declarations = "".join(f"--{name}:{value};" for name, value in properties.items())
    return f"{selector}{{{declarations}}}"


def _property(pointer: str) -> str:
    """Return the custom property of a colour: ``footer-text`` for ``/footer/textColor``."""
    _, part, name = pointer.split("/")
    words = re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name.removesuffix("Color"))
    return _PREFIXES[part] + words


def _font(style: GeneralStyle) -> tuple[dict[str, str], str]:
    """Return the custom property of the form's font, and the CSS rule that loads the font file."""
    name, url = style.font.name, style.font.url
    if is_font_file_url(url):
        safe = quote(url, safe=_SAFE_IN_CSS)
        face = f'@font-face{{font-family:form;font-display:swap;src:url("{safe}")}}'
        return {"font": "form"}, face
    if _FONT_NAME.fullmatch(name):
        return {"font": f'"{name}"'}, ""
    return {}, ""
