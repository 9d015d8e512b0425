"""Write the pictures in docs/defaults.md: pages, e-mails and posters of eight brands.

Each brand sets only a logo and one colour; everything else is the default. `make pictures` runs
this module. It needs no cloud: Chromium gets the pages and the logos from this module.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final

from playwright.sync_api import Browser, Route, sync_playwright

from admin.posters.poster import Poster
from chalicelib.domain.accounts.places import Place
from chalicelib.domain.forms.public.survey import build_public_survey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.solicitation.links import short_form_link
from chalicelib.domain.solicitation.mail_content import mail_content
from chalicelib.services.forms.cached_forms import CachedForm
from chalicelib.services.forms.displayed import DisplayedForm
from chalicelib.services.solicitation.render_mail import render_html
from chalicelib.web.public.form_page import FormState, show_form
from chalicelib.web.public.form_request import FormRequest
from infrastructure.deployment.code_package import PROJECT
from tests.domain.forms.factories import BRAND, DIRECTORY, FORM, NOW, STORE, saved_survey
from tests.domain.solicitation.factories import invitation, links_of
from tests.e2e.browser import chromium

_LOGOS: Final = "https://logos.example.com/"
_COMMENT: Final = {"key": "comment", "type": "LONG_TEXT", "verticalIndex": 1}


@dataclass(frozen=True)
class Brand:
    """A brand, its only colour, and its survey.

    Attributes:
        sign: the SVG element of the logo left of the name, in a square of 24 units.
        question: the type and the label of the first question.
        comment: the label of the second question.
    """

    name: str
    store: str
    address: str
    colour: str
    sign: str
    language: str
    title: str
    question: tuple[str, str]
    comment: str
    first_name: str

    @property
    def definition(self) -> dict[str, Any]:
        """The survey's definition."""
        kind, label = self.question
        return {
            "language": self.language,
            "publiclyAvailable": True,
            "header": {"title": self.title},
            "generalStyle": {"accentColor": self.colour},
            "logo": {"url": f"{_LOGOS}{BRANDS.index(self)}.svg", "width": 640, "height": 160},
            "fields": [
                {"key": "rating", "type": kind, "label": label, "required": True},
                {**_COMMENT, "label": self.comment},
            ],
        }

    @property
    def survey(self) -> SavedSurvey:
        """The survey."""
        return saved_survey(**self.definition)

    @property
    def context(self) -> SurveyContext:
        """The context of a survey about a visit."""
        return SurveyContext(
            store=self._named(DIRECTORY.store(STORE), name=self.store, address=self.address),
            brand=self._named(DIRECTORY.brand(BRAND), name=self.name),
            visited_on=NOW.date(),
        )

    def _named(self, place: Place | None, **update: str) -> Place:
        assert place
        return place.model_copy(update=update)

    @property
    def logo(self) -> str:
        """The logo as an SVG image."""
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 80" width="640" height="160">'
            f'<g transform="translate(4 10) scale(2.5)" fill="{self.colour}">{self.sign}</g>'
            '<text x="76" y="52" font-family="Liberation Sans, sans-serif" font-size="34"'
            f' font-weight="700" textLength="236" lengthAdjust="spacingAndGlyphs"'
            f' fill="{self.colour}">{escape(self.name)}</text></svg>'
        )


BRANDS: Final = (
    Brand(
        "Maison Lumen",
        "Maison Lumen Lyon",
        "12 rue des Tanneurs, 69005 Lyon",
        "#0b7285",
        '<path d="M12 1l3 8 8 3-8 3-3 8-3-8-8-3 8-3z"/>',
        "en",
        "How was your visit?",
        ("NPS", "Would you recommend us to a friend?"),
        "What should we change?",
        "Zoé",
    ),
    Brand(
        "Hôtels Alizé",
        "Alizé Nice",
        "30 promenade des Anglais, 06000 Nice",
        "#8d5a2b",
        '<path d="M2 20V9l10-7 10 7v11h-7v-7H9v7z"/>',
        "fr",
        "Comment était votre séjour ?",
        ("CSAT_STAR", "Combien d’étoiles pour ce séjour ?"),
        "Dites-nous en plus",
        "Anaïs",
    ),
    Brand(
        "Café Minuit",
        "Café Minuit",
        "3 place du Pont, 69001 Lyon",
        "#4a235a",
        '<path d="M20 15A9 9 0 1 1 10 3a7 7 0 0 0 10 12z"/>',
        "fr",
        "Bonne soirée ?",
        ("CSAT_SMILEY", "Comment était votre soirée ?"),
        "Que devons-nous changer ?",
        "Léo",
    ),
    Brand(
        "Bergwerk Sport",
        "Bergwerk Innsbruck",
        "Maria-Theresien-Straße 8, 6020 Innsbruck",
        "#2f7d32",
        '<path d="M1 21L9 5l4 7 3-4 7 13z"/>',
        "de",
        "Wie war Ihr Einkauf?",
        ("NPS", "Würden Sie uns weiterempfehlen?"),
        "Was können wir besser machen?",
        "Jürgen",
    ),
    Brand(
        "رياض الزيتون",
        "رياض الزيتون مراكش",
        "درب الباشا 14، مراكش",
        "#b5532a",
        '<path d="M12 2c6 4 8 8 8 12a8 8 0 0 1-16 0C4 10 6 6 12 2z"/>',
        "ar",
        "كيف كانت إقامتكم؟",
        ("CSAT_STAR", "كم نجمة نستحق؟"),
        "أخبرونا بالمزيد",
        "ليلى",
    ),
    Brand(
        "Pane & Sale",
        "Pane & Sale Torino",
        "Via Garibaldi 20, 10122 Torino",
        "#f2b01e",
        '<path d="M3 13c0-6 4-9 9-9s9 3 9 9c0 4-2 7-9 7s-9-3-9-7z"/>',
        "it",
        "Com’era il pane oggi?",
        ("BINARY", "Tornerà da noi?"),
        "Che cosa possiamo migliorare?",
        "Giulia",
    ),
    Brand(
        "Kino Noir",
        "Kino Noir Köln",
        "Ehrenstraße 40, 50672 Köln",
        "#111111",
        '<path d="M2 4h20v16H2zm3 3v2h2V7zm0 4v2h2v-2zm0 4v2h2v-2zm12-8v2h2V7zm0 4v2h2v-2z"/>',
        "de",
        "Wie hat Ihnen der Film gefallen?",
        ("CSAT_SMILEY", "Ihr Abend im Kino"),
        "Was sollen wir ändern?",
        "Mia",
    ),
    Brand(
        "Fjord Spa",
        "Fjord Spa Bergen",
        "Bryggen 5, 5003 Bergen",
        "#2563eb",
        '<path d="M2 10c3-3 6-3 10 0s7 3 10 0v4c-3 3-6 3-10 0s-7-3-10 0z"/>',
        "en",
        "How do you feel?",
        ("RATING", "How relaxed are you now?"),
        "What would make it better?",
        "Ingrid",
    ),
)


def survey_page(brand: Brand) -> str:
    """Return the survey's page about a visit."""
    survey = brand.survey
    context = brand.context
    view = build_public_survey(survey, DIRECTORY, survey.language, context)
    form = DisplayedForm.of(CachedForm(FORM, survey), view, context)
    request = FormRequest(True, FORM, store=STORE, has_fixed_store=True)
    return str(show_form(request, form, FormState()).body)


def invitation_mail(brand: Brand) -> str:
    """Return the HTML part of the invitation."""
    sent = invitation(customer={"first_name": brand.first_name}, **brand.definition)
    sent = replace(sent, brand=brand.context.brand, store=brand.context.store)
    return render_html(mail_content(sent, links_of(sent)))


def store_poster(brand: Brand) -> str:
    """Return the poster of the store."""
    survey = brand.survey
    view = build_public_survey(survey, DIRECTORY, survey.language, brand.context)
    link = short_form_link("https://feedback.example.com", FORM, STORE, is_survey=True)
    return Poster(view, brand.store, link, [survey.language]).html()


@dataclass(frozen=True)
class Sheet:
    """A picture with one document of each brand.

    Attributes:
        width, height: the size of the browser's window; a lower document is cut off.
        scale: the factor by which the picture shows the documents smaller.
        schemes: the colour schemes; each is a block of rows.
    """

    name: str
    html: Callable[[Brand], str]
    width: int
    height: int
    scale: float
    columns: int
    schemes: Sequence[str] = ("light", "dark")


SHEETS: Final = (
    Sheet("defaults-phone.jpg", survey_page, 375, 667, 0.5, 8),
    Sheet("defaults-desktop.jpg", survey_page, 1366, 768, 0.27, 4),
    Sheet("defaults-mail.jpg", invitation_mail, 375, 800, 0.5, 8),
    Sheet("defaults-poster.jpg", store_poster, 794, 1123, 0.25, 8, ("light",)),
)


def main() -> None:
    """Write the pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--no-proxy-server"]
        )
        for sheet in SHEETS:
            images = [_screenshot(browser, sheet, *each) for each in _shown(sheet)]
            _write(browser, sheet, images)
        browser.close()


def _shown(sheet: Sheet) -> list[tuple[str, Brand]]:
    return [(scheme, brand) for scheme in sheet.schemes for brand in BRANDS]


def _screenshot(browser: Browser, sheet: Sheet, scheme: Any, brand: Brand) -> bytes:
    size: Any = {"width": sheet.width, "height": sheet.height}
    with browser.new_context(
        viewport=size,
        device_scale_factor=sheet.scale,
        color_scheme=scheme,
        java_script_enabled=False,
    ) as context:
        context.route(f"{_LOGOS}*", _fulfil)
        page = context.new_page()
        page.set_content(sheet.html(brand), wait_until="load")
        return page.screenshot()


def _fulfil(route: Route) -> None:
    number = int(route.request.url.removeprefix(_LOGOS).removesuffix(".svg"))
    route.fulfill(body=BRANDS[number].logo, content_type="image/svg+xml")


def _write(browser: Browser, sheet: Sheet, images: Sequence[bytes]) -> None:
    width = round(sheet.width * sheet.scale)
    page = browser.new_page(viewport={"width": (width + 8) * sheet.columns + 8, "height": 100})
    shown = "".join(
        f'<img src="data:image/png;base64,{b64encode(image).decode()}">' for image in images
    )
    page.set_content(
        '<body style="margin:8px;display:grid;gap:8px;background:#c9cfd6;'
        f'grid-template-columns:repeat({sheet.columns},{width}px)">{shown}'
    )
    page.screenshot(path=PROJECT / "docs" / sheet.name, full_page=True, type="jpeg", quality=68)
    page.close()


if __name__ == "__main__":
    main()
