"""Compute contrasts as WCAG 2.2 defines them, colours with enough contrast, and tones of ratings.

Colours are hexadecimal, with 3, 4, 6 or 8 digits. The fourth digit of 4, and the last two digits
of 8, are the opacity.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

TONES: Final = ("#d64550", "#e8833a", "#d9a520", "#7fae3c", "#2f9e63")
"""The colours of the options of a rating question, from the worst to the best answer.

Pages and e-mails mix them with the background. The style sheet `page.css` contains the same
colours; a test compares them.
"""

_DARK_LUMINANCE: Final = 0.18
"""The luminance of a background below which white text has a higher contrast than black text."""

_Rgb = tuple[float, float, float]
_WHITE: Final[_Rgb] = (1.0, 1.0, 1.0)
_STEPS: Final = 20
_GRAPHIC: Final = 3.0
_MIN_SATURATION: Final = 0.15
_INVERTED: Final = 12.0
"""The contrast of a fill without hue, such as black in dark mode."""


def contrast(foreground: str, background: str) -> float:
    """Return the contrast ratio of two colours: 1 to 21.

    The computation mixes a transparent background with white, and a transparent foreground with the
    background.
    """
    below = _blend(background, _WHITE)
    lighter, darker = sorted(
        (_luminance(below), _luminance(_blend(foreground, below))), reverse=True
    )
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=1_000)
def legible(foreground: str, background: str, minimum: float) -> str:
    """Return the foreground, as much darker or lighter as the minimum contrast ratio requires.

    A text that is lighter than its background and must become darker, or the opposite, gets twice
    this ratio: grey text on a button looks as if the button were disabled.

    The results are cached: computing those of an e-mail takes 0.4 ms.
    """
    ends = ("#000000", "#ffffff")
    end = max(ends, key=lambda colour: contrast(colour, background))
    below = _blend(background, _WHITE)
    difference = _luminance(_blend(foreground, below)) - _luminance(below)
    is_opposite = difference >= 0 if end == "#000000" else difference <= 0
    if is_opposite and contrast(foreground, background) < minimum:
        minimum *= 2
    for step in range(_STEPS):
        opacity = f"{round(255 * step / _STEPS):02x}"
        mixed = _hexadecimal(_blend(end + opacity, _blend(foreground, below)))
        if contrast(mixed, background) >= minimum:
            return mixed if step else foreground
    return end


def visible_fill(colour: str, background: str) -> str:
    """Return the colour of a button, as much darker or lighter as the background requires.

    Black in dark mode becomes almost white: a grey button looks as if it were disabled.
    """
    fill = legible(colour, background, _GRAPHIC)
    channels = _blend(fill, _WHITE)
    has_hue = max(channels) - min(channels) >= _MIN_SATURATION * max(channels)
    return fill if has_hue or fill == colour else legible(fill, background, _INVERTED)


def blended(colour: str, background: str) -> str:
    """Return the opaque colour that a transparent colour has on a background."""
    return _hexadecimal(_blend(colour, _blend(background, _WHITE)))


def is_dark(colour: str) -> bool:
    """Return whether a background of this colour needs light text."""
    return _luminance(_blend(colour, _WHITE)) < _DARK_LUMINANCE


def levels(ratings: Iterable[int]) -> list[int]:
    """Return the index of the tone of each option of a question, by its rating."""
    given = list(ratings)
    order = sorted(given)
    return [round(order.index(rating) / (len(order) - 1) * (len(TONES) - 1)) for rating in given]


def _blend(colour: str, below: _Rgb) -> _Rgb:
    digits = colour[1:]
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, opacity = (int(digits[at : at + 2] or "ff", 16) / 255 for at in (0, 2, 4, 6))
    mixed = (
        opacity * channel + (1 - opacity) * under
        for channel, under in zip((red, green, blue), below, strict=True)
    )
    return next(mixed), next(mixed), next(mixed)


def _hexadecimal(colour: _Rgb) -> str:
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in colour)


def _luminance(colour: _Rgb) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
