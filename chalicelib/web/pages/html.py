"""Render the pages for respondents, with their security headers.

The Content-Security-Policy allows the script of the service, the inline style (by its hash), and
the images and the font file of the form.
"""

from collections.abc import Mapping
from typing import Any, Final

from chalice import Response
from markupsafe import Markup

from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.survey_context import SurveyContext, visit_line
from chalicelib.domain.language import Language, is_right_to_left
from chalicelib.domain.plain_text import unbroken
from chalicelib.web.pages.assets import STYLE_SHEET, asset_path, asset_text
from chalicelib.web.pages.page import environment, style_sources
from chalicelib.web.pages.style import PLAIN, PageStyle, image_url, link_url, style_of
from chalicelib.web.pages.words import Words, words_in
from chalicelib.web.problems import HTML, Headers

View = PublicContactForm | PublicSurvey

_NO_STORE: Final[Headers] = {"Cache-Control": "private, no-store"}
_NO_VISIT: Final = SurveyContext()
_HISTORY_COPY: Final[Headers] = {"Cache-Control": "private, max-age=0"}
"""The headers of a page that the browser keeps until the tab is closed.

If the respondent goes back, the browser displays its own copy of the page, with the same
idempotency key. If the respondent opens the link, the browser loads a new page.
"""


def form_response(
    template: str,
    view: View,
    status: int = 200,
    *,
    context: SurveyContext = _NO_VISIT,
    is_kept: bool = False,
    untranslated: Mapping[str, Language] = {},
    **content: Any,
) -> Response:
    """Return a page in the style and the language of a form.

    Args:
        context: the visit that the form is about.
        is_kept: whether the browser may display its own copy when the respondent goes back.
        untranslated: the language of each text that is in another language than the page.
        content: the variables of the template.
    """
    style = style_of(view, view.general_style)
    words = words_in(view.language)
    shown = _form_content(view, context) | {
        "is_zoned": "--zone:" in style.css,
    }
    headers = _HISTORY_COPY if is_kept else _NO_STORE
    return _response(
        template,
        view.language,
        words,
        style,
        status,
        headers,
        untranslated=untranslated,
        **shown,
        **content,
    )


def plain_response(
    template: str,
    language: Language,
    status: int,
    headers: Headers,
    *,
    form: View | None = None,
    is_framed: bool = True,
    **content: Any,
) -> Response:
    """Return a page without questions, in the style of a form if there is one.

    Args:
        form: the form that the page belongs to, or None.
        is_framed: whether the page is displayed in frames, with the script of pages.
    """
    words = words_in(language)
    shown = _form_content(form, _NO_VISIT) if form else {"form": None}
    style = style_of(form, form.general_style) if form else PLAIN
    return _response(
        template,
        language,
        words,
        style,
        status,
        _NO_STORE | headers,
        is_framed=is_framed,
        **shown,
        **content,
    )


def _form_content(view: View, context: SurveyContext) -> dict[str, Any]:
    brands = view.brand_name if isinstance(view, PublicContactForm) else _brands_of(view)
    return {
        "form": view,
        "is_survey": isinstance(view, PublicSurvey),
        "owner": ", ".join(brands),
        "visit": visit_line(context, view.language, view.header.title),
        "place": context.store,
        "links": [(name, url) for name, url in view.external_link if link_url(url)],
    }


def _response(
    template: str,
    language: Language,
    words: Words,
    style: PageStyle,
    status: int,
    headers: Headers,
    *,
    untranslated: Mapping[str, Language] = {},
    is_framed: bool = True,
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
            is_framed=is_framed,
            bdi=lambda text, name="": _isolated(text, untranslated.get(text), name),
            **content,
        )
    )
    return Response(page, status_code=status, headers=_headers(page, style, is_framed) | headers)


def _isolated(text: str, language: Language | None, class_name: str) -> Markup:
    """Return a text in an element of its own direction, with its language if it has another."""
    attributes = {"class": class_name, "lang": language}
    given = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in attributes.items() if value
    )
    return Markup("<bdi{}>{}</bdi>").format(given, unbroken(text))


def _headers(page: str, style: PageStyle, is_framed: bool) -> Headers:
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "connect-src": "'self'",
        "style-src": style_sources(page).strip(),
        "img-src": " ".join(style.image_sources) or "'none'",
        "font-src": style.font_source or "'none'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "*" if is_framed else "'none'",
    }
    return {
        "Content-Type": HTML,
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",
    }


def _brands_of(view: PublicSurvey) -> list[str]:
    return [view.brand.name] if view.brand else []
