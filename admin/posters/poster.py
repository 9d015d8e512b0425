"""Render a poster: one HTML page with the title of a form and the QR code of its page."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import segno

from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.language import is_right_to_left

if TYPE_CHECKING:
    from jinja2 import Template

_ERROR_CORRECTION: Final = "q"
"""The error correction level of QR codes: a code with a quarter of its area damaged is readable."""


@dataclass(frozen=True)
class Poster:
    """A poster of a form.

    Attributes:
        place: the name of the store; ``""`` if the poster is for all stores.
        link: the URL in the QR code: the page of the form.
    """

    view: PublicContactForm | PublicSurvey
    place: str
    link: str

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

    def html(self) -> str:
        """Return the poster as an HTML page without references to other files."""
        view = self.view
        return _template().render(
            direction="rtl" if is_right_to_left(view.language) else "ltr",
            language=view.language,
            title=view.header.title or self.owner or self.place,
            subtitle=view.header.subtitle,
            place=self.place,
            link=self.link,
            accent=view.general_style.accent_color or "#14617a",
            code=self.svg(),
        )


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("poster.html")
