"""The routes of pages for respondents, and of their script."""

from typing import Final

from chalice import Blueprint, Response

from chalicelib.domain.errors import NotFound
from chalicelib.web.openapi.operation import operation
from chalicelib.web.public.endpoint import PublicRequest, public_route

routes = Blueprint(__name__)

_TAG: Final = "Pages"
_HTML: Final = "text/html"
_PARAMETERS: Final = {
    "store": "The store that the respondent gives feedback on.",
    "brand": "The brand that the respondent gives feedback on.",
    "language": "Language of the page, if the form is translated automatically. By default,"
    " `Accept-Language` determines the language.",
}
_PREFILL: Final = (
    " The parameters `a.<field key>=<value>` preselect answers to option and scale fields and"
    " submit nothing. Errors are pages too."
)


@public_route(routes, "GET", "/public/contact-form/page", is_page=True)
@operation(
    tag=_TAG,
    description=f"Returns the page on which a respondent answers the contact form.{_PREFILL}",
    parameters={"id": "Identifier of the contact form.", **_PARAMETERS},
    returns="The page.",
    media_types=(_HTML,),
    cache_header="PageCopy",
    errors=(400, 404, 409),
)
def open_contact_form_page(request: PublicRequest) -> Response:
    """Open the page of a contact form."""
    from chalicelib.web.public.form_page import show_page

    return show_page(request, is_survey=False)


@public_route(routes, "GET", "/public/survey/page", is_page=True)
@operation(
    tag=_TAG,
    description="Returns the page on which a respondent answers the survey. A private survey"
    f" requires the tracker from the survey link.{_PREFILL}",
    parameters={
        "survey": "Identifier of the survey.",
        "tracker": "Tracker from the survey link.",
        **_PARAMETERS,
    },
    returns="The page.",
    media_types=(_HTML,),
    cache_header="PageCopy",
    errors=(400, 403, 404, 409),
)
def open_survey_page(request: PublicRequest) -> Response:
    """Open the page of a survey."""
    from chalicelib.web.public.form_page import show_page

    return show_page(request, is_survey=True)


@public_route(routes, "GET", "/public/assets/{digest}/{name}")
@operation(
    tag=_TAG,
    description="Returns a script that pages use. Its path contains a hash of its content, so"
    " browsers cache the script for a year.",
    parameters={"digest": "Hash of the file's content.", "name": "Name of the file."},
    returns="The file.",
    media_types=("text/javascript",),
    cache_header="Cacheable",
    errors=(404,),
)
def get_page_asset(request: PublicRequest) -> Response:
    """Get the script of pages."""
    from chalicelib.web.pages.assets import SCRIPTS, asset_hash

    path = request.http.uri_params or {}
    name = path.get("name", "")
    if name not in SCRIPTS or path.get("digest") != asset_hash(name):
        raise NotFound("file")
    return _script(name, "public, max-age=31536000, immutable")


@public_route(routes, "GET", "/public/embed.js")
@operation(
    tag=_TAG,
    description='Returns the script for `<script src="…/public/embed.js" data-contact-form="ID">`'
    ' or `data-survey="ID"`. The script inserts the page of the form in a frame that grows with'
    " its content. The page receives the attributes `data-tracker`, `data-store`, `data-brand` and"
    " `data-language`; `data-title` sets the title of the frame,"
    ' `data-answers="nps=9"` preselects answers, and `data-chrome="none"` omits logo, cover, footer'
    ' and background. With `data-popup="Text"`, a button opens the form in a dialog; `data-close`'
    " names its close button. The script element dispatches the events `feedback:opened`,"
    " `feedback:submitted` and `feedback:closed`, which contain no answers. The script and the"
    " frame use no cookies and need no storage.",
    returns="The script.",
    media_types=("text/javascript",),
    cache_header="Cacheable",
)
def get_embed_script(request: PublicRequest) -> Response:
    """Get the script that embeds a form."""
    from chalicelib.web.pages.assets import EMBED

    return _script(EMBED, "public, max-age=3600")


def _script(name: str, cache_control: str) -> Response:
    from chalicelib.web.pages.assets import SCRIPT_TYPE, asset_text

    return Response(asset_text(name), {"Content-Type": SCRIPT_TYPE, "Cache-Control": cache_control})
