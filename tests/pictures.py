"""Write the pictures in docs: pages, e-mails and posters of eight brands, the demo, and a report.

Each brand sets only a logo and one colour; everything else is the default. The program needs no
cloud: Chromium gets the pages and the images from this module.
"""

import random
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from html import escape
from typing import Any, Final
from zoneinfo import ZoneInfo

from playwright.sync_api import Browser, Route, sync_playwright

from admin.domain.forms.survey import define_survey
from admin.services.definitions.definition import Kind
from admin.services.feedback.report.changes import Group, Verdict, compare
from admin.services.feedback.report.figures import Details, Figures, Period, QuestionResult
from admin.services.feedback.report.page import Report, Scope
from admin.services.feedback.report.words import ReportWords
from admin.services.forms.poster import Poster
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.daily import ANSWERED, SENT, Numbers, group_of, numbers_of
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.forms.public.survey import build_public_survey
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.domain.solicitation.links import short_form_link
from chalicelib.domain.solicitation.mail_content import mail_content
from chalicelib.services.forms.cached_forms import CachedForm
from chalicelib.services.forms.public import DisplayedForm, FormIds
from chalicelib.services.solicitation.send_invitation import render_html
from chalicelib.web.public.form_page import FormState, show_form
from chalicelib.web.public.form_request import FormRequest
from infrastructure.demo.contents import demo_definitions
from infrastructure.demo.ids import demo_id
from infrastructure.deployment.code_package import PROJECT
from tests.chromium.browser import chromium
from tests.domain.feedback.factories import answer, build_feedback
from tests.domain.forms.factories import BRAND, DIRECTORY, FORM, NOW, STORE, saved_survey
from tests.domain.solicitation.factories import invitation, links_of

_LOGOS: Final = "https://logos.example.com/"
_COVER: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 400" width="1200" height="400">'
    '<rect width="1200" height="400" fill="#5f7f86"/>'
    '<circle cx="900" cy="120" r="90" fill="#f4d9a8"/>'
    '<path d="M0 290q260-90 620 0t580-20v130H0z" fill="#2f4a50"/></svg>'
)
"""The image of the demo's covers."""
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
    return _page(brand.survey, DIRECTORY, brand.survey.language, brand.context)


def _page(
    survey: SavedSurvey,
    directory: Directory,
    language: Language,
    context: SurveyContext,
    answers: Mapping[str, list[str]] | None = None,
) -> str:
    view = build_public_survey(survey, directory, language, context)
    form = DisplayedForm(CachedForm(FORM, survey), view, context)
    request = FormRequest(True, FormIds(FORM, store_id=STORE), has_fixed_store=True)
    ids = {field.key: field.id for field in view.fields}
    state = FormState({ids[key]: values for key, values in (answers or {}).items()})
    return str(show_form(request, form, state).body)


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


@cache
def _demo() -> tuple[Directory, Mapping[str, SavedSurvey]]:
    """Return the places of the demo, and its surveys by id."""
    contents = [definition.content for definition in demo_definitions()]
    directory = Directory.of(
        Place(
            id=each["id"],
            kind=PlaceKind(each["kind"].upper()),
            name=each["name"],
            brand_id=each.get("brandId"),
            address=each.get("address", ""),
            legal_text=each.get("legalText", ""),
        )
        for each in contents
        if each["kind"] in (Kind.BRAND, Kind.STORE)
    )
    names = {"kind", "account"}
    surveys = {
        each["id"]: define_survey(
            {name: value for name, value in each.items() if name not in names}, directory, NOW
        )
        for each in contents
        if each["kind"] == Kind.SURVEY
        and each["id"] in (demo_id("survey visit"), demo_id("survey stay"))
    }
    return directory, surveys


def demo_pages() -> Iterator[str]:
    """Yield the pages of demo surveys in three languages."""
    directory, surveys = _demo()
    visit, stay = (surveys[demo_id(name)] for name in ("survey visit", "survey stay"))
    context = SurveyContext.of_request(visit, directory)
    yield _page(visit, directory, Language("en"), context, {"nps": ["2"]})
    yield _page(stay, directory, Language("fr"), _demo_visit("nice"))
    yield _page(visit, directory, Language("ar"), context)


def demo_mail() -> Iterator[str]:
    """Yield the invitation to a survey of the demo."""
    survey = _demo()[1][demo_id("survey visit")]
    context = _demo_visit("lyon")
    sent = invitation(customer={"first_name": "Zoé", "language": Language("fr")})
    sent = replace(sent, survey=survey, brand=context.brand, store=context.store)
    yield render_html(mail_content(sent, links_of(sent)))


def _demo_visit(store: str) -> SurveyContext:
    context = SurveyContext.at(_demo()[0], store_id=demo_id(f"store {store}"))
    return replace(context, visited_on=NOW.date())


_OPTIONS: Final = ("Service", "Food", "Waiting time")
_COMMENTS: Final = (
    "Nobody took our order for half an hour.",
    "Deux serveurs pour toute la salle, c’était interminable.",
    "So slow that we missed our train.",
    "Forty minutes between starter and main course.",
)


def feedback_report() -> Iterator[str]:
    """Yield a report on sample data, in which one of three stores has got worse."""
    yield sample_report(Language("en")).html()


def sample_report(language: Language) -> Report:
    """Return a report on sample data, in which one of three stores has got worse."""
    chance = random.Random(7)
    brand, form = demo_id("brand lumen"), demo_id("survey visit")
    period = Period(date(2026, 10, 22), date(2026, 11, 20))
    records: dict[Period, list[Feedback]] = {}
    figures = {period: Figures(), period.previous: Figures()}
    for of, numbers in figures.items():
        records[of] = []
        for number in range(240):
            name = ("lyon", "paris", "ginza")[number % 3]
            is_worse = name == "paris" and of == period
            value = max(0, min(10, round(chance.gauss(4 if is_worse else 8.6, 1.9))))
            said = "Waiting time" if is_worse and number % 4 else chance.choice(_OPTIONS)
            record = build_feedback(
                answer("nps", str(value), kind="NPS"),
                answer("improve", said, kind="SINGLE_SELECT"),
                *([answer("comment", _COMMENTS[number % 4], kind="LONG_TEXT")] if is_worse else []),
                kind=FormKind.SURVEY,
                form_id=form,
                rating=value,
                brand_id=brand,
                store_id=demo_id(f"store {name}"),
                created_at=datetime.combine(of.last, time(12), UTC) - timedelta(days=number / 8),
            )
            records[of].append(record)
            group = group_of(record, "UTC")
            numbers.add(group, numbers_of(record) + Numbers({SENT: 2, ANSWERED: 1}))

    def details(of: Period, group: Group | None = None) -> Details:
        chosen = [each for each in records[of] if group in (None, (brand, each.store_id))]
        options = {name: name for name in _OPTIONS}
        improve = QuestionResult("After your visit", "What should we improve?", options)
        questions = {(form, derived_id("field", "improve")): improve}
        found = Details(of, group, len(chosen), len(chosen), questions)
        for each in chosen:
            found.add(each)
        return found

    now, before = figures.values()
    changes = compare(now.stores, before.stores)
    chapters = [
        (each, details(period, each.group), details(period.previous, each.group))
        for each in changes
        if each.verdict is Verdict.WORSE
    ]
    zone, names = ZoneInfo("Europe/Paris"), {(FormKind.SURVEY, form): "After your visit"}
    scope = Scope("Groupe Lumen", period, zone, "", _demo()[0], names)
    return Report(ReportWords(language), scope, now, before, details(period), changes, chapters)


def _of_brands(html: Callable[[Brand], str]) -> Callable[[], Iterator[str]]:
    return lambda: (html(brand) for brand in BRANDS)


@dataclass(frozen=True)
class Sheet:
    """A picture of several documents.

    Attributes:
        documents: returns the HTML of the documents.
        width, height: the size of the browser's window; a lower document is cut off.
        scale: the factor by which the picture shows the documents smaller.
        schemes: the colour schemes; each shows all documents.
    """

    name: str
    documents: Callable[[], Iterator[str]]
    width: int
    height: int
    scale: float
    columns: int
    schemes: Sequence[str] = ("light", "dark")


SHEETS: Final = (
    Sheet("defaults-phone.jpg", _of_brands(survey_page), 375, 667, 0.5, 8),
    Sheet("defaults-desktop.jpg", _of_brands(survey_page), 1366, 768, 0.27, 4),
    Sheet("defaults-mail.jpg", _of_brands(invitation_mail), 375, 800, 0.5, 8),
    Sheet("defaults-poster.jpg", _of_brands(store_poster), 794, 1123, 0.25, 8, ("light",)),
    Sheet("survey-page.png", demo_pages, 375, 667, 1, 3, ("light",)),
    Sheet("invitation.png", demo_mail, 375, 900, 1, 2),
    Sheet("feedback-report.png", feedback_report, 784, 1100, 1, 1, ("light",)),
)


def main() -> None:
    """Write the pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--no-proxy-server"]
        )
        for sheet in SHEETS:
            images = [
                _screenshot(browser, sheet, scheme, document)
                for scheme in sheet.schemes
                for document in sheet.documents()
            ]
            _write(browser, sheet, images)
        browser.close()


def _screenshot(browser: Browser, sheet: Sheet, scheme: Any, document: str) -> bytes:
    size: Any = {"width": sheet.width, "height": sheet.height}
    with browser.new_context(
        viewport=size,
        device_scale_factor=sheet.scale,
        color_scheme=scheme,
        java_script_enabled=False,
    ) as context:
        context.route("**/*", _fulfil)
        page = context.new_page()
        page.set_content(document, wait_until="load")
        return page.screenshot()


def _fulfil(route: Route) -> None:
    url = route.request.url
    if url.startswith(_LOGOS):
        body = BRANDS[int(url.removeprefix(_LOGOS).removesuffix(".svg"))].logo
    else:
        body = BRANDS["alize" in url].logo if "logo" in url else _COVER
    route.fulfill(body=body, content_type="image/svg+xml")


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
    path = PROJECT / "docs" / sheet.name
    options: Any = {"type": "jpeg", "quality": 68} if path.suffix == ".jpg" else {}
    page.screenshot(path=path, full_page=True, **options)
    page.close()


if __name__ == "__main__":
    main()
