"""Render posters and table tents: one HTML page with the title of a form and its QR code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import segno

from chalicelib.domain.forms.contrast import legible
from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.language import Language, is_right_to_left
from chalicelib.domain.plain_text import unbroken

if TYPE_CHECKING:
    from jinja2 import Template

_MIN_CONTRAST: Final = 4.5
_ERROR_CORRECTION: Final = "q"
"""The error correction level of QR codes: a code with a quarter of its area damaged is readable."""

SCAN: Final[Mapping[str, str]] = {
    "ar": "امسح الرمز بالكاميرا",
    "bg": "Сканирайте с камерата си",
    "cs": "Naskenujte fotoaparátem",
    "da": "Scan med dit kamera",
    "de": "Mit der Kamera scannen",
    "el": "Σαρώστε με την κάμερά σας",
    "en": "Scan with your camera",
    "es": "Escanee con la cámara",
    "fa": "با دوربین اسکن کنید",
    "fi": "Skannaa kameralla",
    "fr": "Scannez avec votre appareil photo",
    "he": "סרקו עם המצלמה",
    "hr": "Skenirajte kamerom",
    "hu": "Olvassa be a kamerával",
    "id": "Pindai dengan kamera Anda",
    "it": "Inquadra con la fotocamera",
    "ja": "カメラで読み取ってください",
    "ko": "카메라로 스캔하세요",
    "nl": "Scan met uw camera",
    "no": "Skann med kameraet",
    "pl": "Zeskanuj aparatem",
    "pt": "Leia com a câmara",
    "ro": "Scanați cu camera",
    "ru": "Отсканируйте камерой",
    "sk": "Naskenujte fotoaparátom",
    "sv": "Skanna med kameran",
    "tr": "Kameranızla tarayın",
    "uk": "Відскануйте камерою",
    "vi": "Quét bằng máy ảnh",
    "zh": "请用相机扫描",
    "zh-TW": "請用相機掃描",
}
"""Scan with your camera, by language."""


@dataclass(frozen=True)
class Poster:
    """A poster of a form.

    Attributes:
        place: the name of the store; ``""`` if the poster is for all stores.
        link: the URL in the QR code: the page of the form.
        languages: the languages in which the poster says that it can be scanned.
    """

    view: PublicContactForm | PublicSurvey
    place: str
    link: str
    languages: Sequence[Language]

    @property
    def owner(self) -> str:
        """The names of the form's brands; ``""`` for a survey without a brand."""
        if isinstance(self.view, PublicContactForm):
            return ", ".join(self.view.brand_name)
        return self.view.brand.name if self.view.brand else ""

    def svg(self) -> str:
        """Return the QR code as an SVG image that scales to any size."""
        code = segno.make(self.link, error=_ERROR_CORRECTION, micro=False)
        return str(code.svg_inline(omitsize=True, border=4, light="#fff"))

    def html(self, *, is_tent: bool = False) -> str:
        """Return the poster as an HTML page. It loads the logo of the form, and nothing else.

        Args:
            is_tent: whether to return a table tent: an A4 page to fold, with the same on both
                sides.
        """
        view = self.view
        accent = view.general_style.accent_color or "#14617a"
        logo = view.logo.url if view.logo and is_https_url(view.logo.url) else ""
        return _template().render(
            direction="rtl" if is_right_to_left(view.language) else "ltr",
            language=view.language,
            title=unbroken(view.header.title) or self.owner or self.place,
            subtitle=unbroken(view.header.subtitle),
            place=self.place,
            link=self.link,
            is_tent=is_tent,
            owner=self.owner,
            logo=logo,
            scan=[(each, SCAN[each]) for each in self.languages if each in SCAN],
            accent=accent,
            on_accent=legible("#ffffff", accent, _MIN_CONTRAST),
            ink=legible(accent, "#ffffff", _MIN_CONTRAST),
            code=self.svg(),
        )


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("poster.html")
