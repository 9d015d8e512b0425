"""Render the pages for respondents, with their security headers."""

from collections.abc import Mapping
from typing import Any, Final

from chalice import Response
from markupsafe import Markup

from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.forms.survey_context import SurveyContext, visit_line
from chalicelib.domain.forms.web_url import is_https_url
from chalicelib.domain.language import Language, is_right_to_left
from chalicelib.domain.plain_text import unbroken
from chalicelib.web.pages.assets import STYLE_SHEET, asset_path, asset_text
from chalicelib.web.pages.page import environment, security_headers
from chalicelib.web.pages.style import PLAIN, image_url, style_of
from chalicelib.web.pages.words import page_words
from chalicelib.web.problems import HTML, Headers

View = PublicContactForm | PublicSurvey

_NO_VISIT: Final = SurveyContext()


def page_response(
    template: str,
    language: Language,
    form: View | None,
    status: int = 200,
    headers: Mapping[str, str] = {},
    *,
    context: SurveyContext = _NO_VISIT,
    untranslated: Mapping[str, Language] = {},
    is_framed: bool = True,
    **content: Any,
) -> Response:
    """Return a page, in the style of a form if it belongs to one.

    The Content-Security-Policy allows the images and the font file of the form.

    Args:
        form: the form that the page belongs to, or None.
        headers: headers in addition to the security headers. By default, no page is stored.
        context: the visit that the form is about.
        untranslated: the language of each text that is in another language than the page.
        is_framed: whether the page is displayed in frames, with the script of pages.
        content: the variables of the template.
    """
    style = PLAIN
    if form:
        images = (form.logo, form.cover, form.footer_logo, form.submission_image)
        style = style_of(form.general_style, form.footer, form.submission, images)
    page = (
        environment()
        .get_template(template)
        .render(
            language=language,
            direction="rtl" if is_right_to_left(language) else "ltr",
            words=page_words(language),
            style=style,
            asset_path=asset_path,
            style_sheet=asset_text(STYLE_SHEET),
            image_url=image_url,
            is_https_url=is_https_url,
            is_framed=is_framed,
            bdi=lambda text, name="": _isolated(text, untranslated.get(text), name),
            form=form,
            **(_form_content(form, context) if form else {}),
            **content,
        )
    )
    sources = {
        "connect-src": "'self'",
        "img-src": " ".join(style.image_sources) or "'none'",
        "font-src": style.font_source or "'none'",
        "form-action": "'self'",
        "frame-ancestors": "*" if is_framed else "'none'",
    }
    default: Headers = {"Content-Type": HTML, "Cache-Control": "private, no-store"}
    return Response(page, {**default, **security_headers(page, sources), **headers}, status)


def _form_content(view: View, context: SurveyContext) -> dict[str, Any]:
    if isinstance(view, PublicContactForm):
        brands = view.brand_name
    else:
        brands = [view.brand.name] if view.brand else []
    return {
        "is_survey": isinstance(view, PublicSurvey),
        "owner": ", ".join(brands),
        "visit": visit_line(context, view.language, view.header.title),
        "place": context.store,
        "links": [(name, url) for name, url in view.external_link if is_https_url(url)],
    }


def _isolated(text: str, language: Language | None, class_name: str) -> Markup:
    """Return a text in an element of its own direction, with its language if it has another."""
    attributes = {"class": class_name, "lang": language}
    given = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in attributes.items() if value
    )
    return Markup("<bdi{}>{}</bdi>").format(given, unbroken(text))
