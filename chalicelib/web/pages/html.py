"""Render the pages for respondents, with their security headers.

The Content-Security-Policy allows the script of the service, the inline style (by its hash), and
the images and the font file of the form.
"""

from typing import Any, Final

from chalice import Response

from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.language import Language, is_right_to_left
from chalicelib.web.pages.assets import STYLE_SHEET, asset_path, asset_text
from chalicelib.web.pages.page import environment, style_sources
from chalicelib.web.pages.style import PLAIN, PageStyle, css_colour, image_url, link_url, style_of
from chalicelib.web.pages.words import Words, words_in
from chalicelib.web.problems import HTML, Headers

View = PublicContactForm | PublicSurvey

_NO_STORE: Final[Headers] = {"Cache-Control": "private, no-store"}
_HISTORY_COPY: Final[Headers] = {"Cache-Control": "private, max-age=0"}
"""The headers of a page that the browser keeps until the tab is closed.

If the respondent goes back, the browser displays its own copy of the page, with the same
idempotency key. If the respondent opens the link, the browser loads a new page.
"""


def form_response(
    template: str, view: View, status: int = 200, *, is_kept: bool = False, **content: Any
) -> Response:
    """Return a page in the style and the language of a form.

    Args:
        is_kept: whether the browser may display its own copy when the respondent goes back.
    """
    style = style_of(view, view.general_style)
    brands = view.brand_name if isinstance(view, PublicContactForm) else _brands_of(view)
    owner = ", ".join(brands)
    words = words_in(view.language)
    shown = {
        "form": view,
        "is_survey": isinstance(view, PublicSurvey),
        "is_zoned": "--zone:" in style.css,
        "owner": owner,
        "links": [(name, url) for name, url in view.external_link if link_url(url)],
    }
    headers = _HISTORY_COPY if is_kept else _NO_STORE
    return _response(template, view.language, words, style, status, headers, **shown, **content)


def plain_response(
    template: str, language: Language, status: int, headers: Headers, **content: Any
) -> Response:
    """Return a page that belongs to no form."""
    words = words_in(language)
    return _response(
        template, language, words, PLAIN, status, _NO_STORE | headers, form=None, **content
    )


def _response(
    template: str,
    language: Language,
    words: Words,
    style: PageStyle,
    status: int,
    headers: Headers,
    **content: Any,
) -> Response:
    page = (
        environment()
        .get_template(template)
        .render(
            language=language,
            direction="rtl" if is_right_to_left(language) else "ltr",
            words=words,
            style=style,
            asset_path=asset_path,
            style_sheet=asset_text(STYLE_SHEET),
            image_url=image_url,
            link_url=link_url,
            css_colour=css_colour,
            **content,
        )
    )
    return Response(page, status_code=status, headers=_headers(page, style) | headers)


def _headers(page: str, style: PageStyle) -> Headers:
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "connect-src": "'self'",
        "style-src": style_sources(page).strip(),
        "img-src": " ".join(style.image_sources) or "'none'",
        "font-src": style.font_source or "'none'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "*",
    }
    return {
        "Content-Type": HTML,
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",
    }


def _brands_of(view: PublicSurvey) -> list[str]:
    return [view.brand.name] if view.brand else []
