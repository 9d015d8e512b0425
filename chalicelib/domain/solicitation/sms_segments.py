"""Count the segments of a text message. The carrier bills each segment separately.

If a text contains only characters of the GSM-7 alphabet (3GPP TS 23.038), a single segment has 160
characters, and each of several segments has 153. If the text contains any other character, the
whole text is encoded in UCS-2: a single segment has 70 code units, and each of several has 67.
"""

from dataclasses import dataclass
from typing import Final

_GSM_7: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM_7_EXTENSION: Final = frozenset("\f^{}\\[~]|€")
"""Characters of GSM-7 that count as two characters."""


@dataclass(frozen=True)
class TextSize:
    """The size of a text message.

    Attributes:
        encoding: ``GSM-7`` or ``UCS-2``.
        segments: the number of segments.
        ucs2_characters: the characters, in order of appearance, that GSM-7 does not have.
    """

    encoding: str
    segments: int
    ucs2_characters: tuple[str, ...] = ()


def size_of(text: str) -> TextSize:
    """Return the size of a text message."""
    outside = tuple(dict.fromkeys(c for c in text if c not in _GSM_7 | _GSM_7_EXTENSION))
    if outside:
        # A segment never ends within a character, such as an emoji with two code units.
        widths = [len(c.encode("utf-16-be")) // 2 for c in text]
        return TextSize("UCS-2", _segments(widths, single=70, part=67), outside)
    widths = [2 if c in _GSM_7_EXTENSION else 1 for c in text]
    return TextSize("GSM-7", _segments(widths, single=160, part=153))


def _segments(widths: list[int], *, single: int, part: int) -> int:
    if sum(widths) <= single:
        return 1
    segments, used = 1, 0
    for width in widths:
        if used + width > part:
            segments, used = segments + 1, 0
        used += width
    return segments
