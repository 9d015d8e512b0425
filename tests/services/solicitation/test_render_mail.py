"""Tests of the HTML part and the text part of mails: content, escaping and size."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from chalicelib.domain.solicitation.mail_content import MAX_HTML_BYTES, MailContent
from chalicelib.services.solicitation.send_invitation import render_html, render_text
from infrastructure.deployment.code_package import PROJECT
from tests.domain.forms.factories import IMAGE, field
from tests.domain.solicitation.factories import content

QUESTION = {"fields": [field("nps", "NPS", label="Recommend us?")]}
HOSTILE = "</title><script>alert(1)</script>\"'&"


class Elements(HTMLParser):
    """Collect the elements and the text of a document, and check that tags are balanced."""

    VOID = ("img", "br", "meta")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def both_parts(mail: MailContent) -> tuple[Elements, str]:
    return Elements(render_html(mail)), render_text(mail)


def test_both_parts_contain_texts_and_links() -> None:
    mail = content(
        header={"title": "Your visit?", "subtitle": "One minute."},
        footer={"display": True, "text": "12 rue des Tanneurs, Lyon"},
        **QUESTION,
    )
    html, text = both_parts(mail)
    for part in (html.text, text):
        for expected in ("Your visit?", "Hello Zoé,", "One minute.", "Tanneurs", mail.reason):
            assert expected in part
    hrefs = [link["href"] for link in html.all("a")]
    assert mail.question
    options = mail.question.options
    assert hrefs == [
        *(option.link for option in options),
        mail.links.survey,
        mail.links.short,
        mail.links.unsubscribe,
    ]
    assert mail.links.survey not in text
    assert f"{mail.links.short}\n" in text
    assert all(f"{option.label}: {option.short_link}\n" in text for option in options)
    assert options[9].short_link == f"{mail.links.short}?a.nps=9"
    assert "0 = Not at all likely, 10 = Extremely likely\n" in text
    assert mail.links.unsubscribe in text
    assert all(line == line.strip() or line == "-- " for line in text.split("\n"))


@pytest.mark.parametrize(
    ("survey", "is_own_page", "is_saved"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"saveTaps": False}, True, False),
        ({"fields": [*QUESTION["fields"], field("ok", "CHECKBOX", required=True)]}, True, False),
        ({"fields": [*QUESTION["fields"], field("ok", "CHECKBOX")]}, True, True),
    ],
)
def test_mail_says_that_answer_is_saved_if_it_is(
    survey: dict[str, Any], is_own_page: bool, is_saved: bool
) -> None:
    mail = content(is_own_page=is_own_page, **QUESTION | survey)
    assert ("It is saved as soon as you touch" in render_html(mail)) == is_saved
    assert ("before you send it" in render_html(mail)) == (not is_saved)


def test_html_has_language_and_direction() -> None:
    html, _ = both_parts(content(language="ar"))
    assert html.all("html") == [{"lang": "ar", "dir": "rtl"}]
    assert all(table["dir"] == "rtl" for table in html.all("table") if "dir" in table)
    assert not [cell for cell in html.all("td") if cell.get("align") == "left"]


def test_every_css_property_is_compared_with_mail_clients() -> None:
    document = (PROJECT / "docs/decisions/messages.md").read_text()
    rows = document[document.index("| CSS property |") :].partition("\n\n")[0].splitlines()[2:]
    compared = {name for row in rows for name in re.findall("`([a-z-]+)`", row.split("|")[1])}
    html, _ = both_parts(content(logo=IMAGE, cover=IMAGE, **QUESTION))
    styles = [attributes.get("style", "") for _, attributes in html.elements]
    used = {part.split(":")[0].strip() for style in styles for part in style.split(";") if part}
    assert used == compared


def test_colours_and_paddings_work_in_clients_that_ignore_their_style() -> None:
    html, _ = both_parts(content(logo=IMAGE, cover=IMAGE, **QUESTION))
    for _, attributes in html.elements:
        colour = re.search("background-color:(#[0-9a-f]+)", attributes.get("style", ""))
        assert attributes.get("bgcolor") == (colour[1] if colour else None)
    links = [link for link in html.all("a") if "padding" in link["style"]]
    cells = [cell for cell in html.all("td") if "mso-padding-alt" in cell.get("style", "")]
    assert len(links) == len(cells) == 12
    assert all("border" not in link["style"] for link in links)


def test_scale_has_labels_at_both_ends_in_reading_order() -> None:
    for language, aligned in (("en", ["left", "right"]), ("ar", ["right", "left"])):
        html, _ = both_parts(content(language=language, **QUESTION))
        ends = [cell["align"] for cell in html.all("td") if cell.get("width") == "50%"]
        assert ends == aligned


def test_untranslated_text_has_its_language_and_direction() -> None:
    mail = content(
        customer={"language": "ar"},
        autoTranslate=True,
        translations={"ar": {"header": {"title": "زيارتك؟"}}},
        **QUESTION,
    )
    html, _ = both_parts(mail)
    assert [item.get("lang") for item in html.all("p") if "lang" in item] == ["en"]
    assert all(heading == heading | {"dir": "auto"} for heading in html.all("h1"))


def test_french_text_part_has_space_before_colons() -> None:
    _, text = both_parts(content(language="fr", **QUESTION))
    assert "Répondre au questionnaire\u00a0:\n" in text
    assert not re.search(r"[^\s](?<!http)(?<!https): ?\n", text)


def test_mail_without_images_names_the_brand() -> None:
    html, _ = both_parts(content(logo=IMAGE, cover=IMAGE))
    assert [image["alt"] for image in html.all("img")] == ["", "Maison Lumen"]
    html, _ = both_parts(content())
    assert html.all("img") == []
    assert "Maison Lumen" in html.text


def test_texts_are_escaped_in_html_and_plain_in_text() -> None:
    mail = content(
        place=HOSTILE,
        header={"title": HOSTILE, "subtitle": HOSTILE},
        footer={"display": True, "text": HOSTILE},
        fields=[field("nps", "NPS", label=HOSTILE)],
        logo=IMAGE | {"url": 'https://x.example/"onerror="alert(1)'},
    )
    html, text = both_parts(mail)
    assert html.all("script") == []
    assert not [attributes for _, attributes in html.elements if "onerror" in attributes]
    assert HOSTILE in html.text
    assert HOSTILE in text
    assert "&#" not in text


@pytest.mark.parametrize("character", ["&", '"', "😀", "ש"])
def test_longest_mail_stays_below_limit_of_mail_clients(character: str) -> None:
    long = character * 1_100
    url = "https://x.example/" + "&" * 982
    image: dict[str, Any] = IMAGE | {"url": url}
    mail = content(
        place=long,
        header={"title": long[:500], "subtitle": long[:500]},
        footer={"display": True, "text": long},
        fields=[field("k" * 100, "NPS", label=long)],
        logo=image,
        cover=image,
        generalStyle=dict.fromkeys(("textColor", "titleColor", "accentColor"), "#123456"),
    )
    assert mail.logo
    assert mail.cover
    assert len(render_html(mail).encode()) <= MAX_HTML_BYTES


def test_typical_mail_stays_below_size_limit() -> None:
    assert len(render_html(content(logo=IMAGE, cover=IMAGE, **QUESTION)).encode()) <= 12_000
