"""Test that the pages of the documentation are complete, accessible and load nothing foreign."""

import base64
import hashlib
import json
import re
import shlex
import sys
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from string import Template
from typing import Any
from unittest.mock import Mock
from urllib.parse import urljoin

import pytest
from markupsafe import escape

from chalicelib.web.openapi import routes
from chalicelib.web.pages.assets import asset_hash, asset_text
from infrastructure.openapi.docs_examples import (
    NOW,
    SOURCES,
    curl,
    javascript,
    python,
    request_of,
)
from infrastructure.openapi.docs_pages import SCRIPT, Page, inline, limits, pages, prose
from tests.web.partner_client import ROOT, Partner

DOCUMENT = json.loads(routes.DOCUMENT.read_text(encoding="utf-8"))
OPERATIONS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


class Tags(HTMLParser):
    """An HTML parser that collects the tags with their attributes and checks their nesting."""

    VOID = {"meta", "br", "wbr", "input"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


def path_of(name: str) -> str:
    return "/docs" if name == routes.INDEX else f"/docs/{name}"


@pytest.fixture(scope="module")
def parsed(docs: dict[str, str]) -> dict[str, Tags]:
    """Return the tags of each page by its path."""
    return {path_of(name): Tags(html) for name, html in docs.items()}


def test_there_is_a_page_for_each_tag_of_at_most_100_kb(docs: dict[str, str]) -> None:
    tags = {tag["name"].lower().replace(" ", "-") for tag in DOCUMENT["tags"]}
    guides = {"guide-integrating", "guide-webhooks", "guide-examples"}
    assert docs.keys() == {routes.INDEX} | tags | guides
    sizes = {name: len(html.encode()) for name, html in docs.items()}
    assert {name: size for name, size in sizes.items() if size >= 100_000} == {}


def test_pages_of_same_document_are_equal(docs: dict[str, str]) -> None:
    assert pages(DOCUMENT) == docs


def test_docs_pages_load_nothing_from_other_hosts(
    docs: dict[str, str], parsed: dict[str, Tags]
) -> None:
    for path, page in parsed.items():
        used = {tag for tag, _ in page.tags}
        assert used.isdisjoint({"link", "img", "iframe", "object", "embed", "video", "base"})
        (script,) = page.all("src")
        assert urljoin(path, script) == f"/public/assets/{asset_hash(SCRIPT)}/{SCRIPT}"
        assert page.all("srcset") + page.all("style") == []
        assert not any("//" in address for address in page.all("href"))
    for html in docs.values():
        assert html.startswith("<!doctype html>")
        assert not re.search(r"url\(|@import", html.split("</style>")[0])


def test_script_of_docs_pages_is_served(respondent: Partner) -> None:
    response = respondent.get(f"/public/assets/{asset_hash(SCRIPT)}/{SCRIPT}")
    assert (response.status, response.body) == (200, asset_text(SCRIPT))


def test_every_link_in_docs_pages_has_target(parsed: dict[str, Tags]) -> None:
    ids = {path: page.all("id") for path, page in parsed.items()}
    for path, page in parsed.items():
        assert len(set(ids[path])) == len(ids[path])
        assert set(page.all("aria-labelledby")) <= set(ids[path])
        for address in page.all("href"):
            target, _, fragment = urljoin(path, address).partition("#")
            assert target == "/openapi.json" or target in parsed, address
            assert not fragment or fragment in ids[target], address


def test_every_docs_page_links_to_all_others(parsed: dict[str, Tags]) -> None:
    for path, page in parsed.items():
        linked = {urljoin(path, address).partition("#")[0] for address in page.all("href")}
        assert linked >= parsed.keys() - {path}


def test_docs_pages_contain_every_operation_and_schema_once(parsed: dict[str, Tags]) -> None:
    ids = Counter(each for page in parsed.values() for each in page.all("id"))
    expected = {operation["operationId"] for _, _, operation in OPERATIONS}
    expected |= {f"schema-{name}" for name in DOCUMENT["components"]["schemas"]}
    assert {name for name in expected if ids[name] != 1} == set()


@pytest.mark.parametrize("name", ["integrating", "webhooks"])
def test_docs_pages_contain_guide_with_its_programs(name: str, docs: dict[str, str]) -> None:
    text = (ROOT / f"docs/{name}.md").read_text()
    headings = re.findall("^## (.+)$", text, re.MULTILINE)
    html = docs[f"guide-{name}"]
    assert re.findall(f'<h2 id="guide-{name}-[a-z-]+-title">(.+)</h2>', html) == headings
    programs = set(re.findall(r"\]\((examples/.+?)\)", text))
    assert programs
    for path in programs:
        assert escape((ROOT / "docs" / path).read_text()) in docs["guide-examples"]
    assert "Not executed by tests" not in html


def test_docs_pages_have_landmarks_headings_and_captions(parsed: dict[str, Tags]) -> None:
    for page in parsed.values():
        tags = [tag for tag, _ in page.tags]
        assert [tags.count(landmark) for landmark in ("header", "nav", "main", "h1")] == [1] * 4
        assert dict(page.tags)["html"] == {"lang": "en"}
        levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert tags.count("table") == tags.count("caption")


def test_curl_command_has_path_credentials_and_body_of_operation() -> None:
    for path, method, operation in OPERATIONS:
        words = shlex.split(curl(request_of(DOCUMENT, path, method, operation)).replace("\\\n", ""))
        in_path = {p["name"]: p["example"] for p in operation["parameters"] if p["in"] == "path"}
        assert words[0] == "curl"
        assert words[2].startswith(f"$BASE_URL{path.format(**in_path)}")
        sent = {word.partition(":")[0] for word in words if ": " in word and word.startswith("X-")}
        assert sent == ({"X-API-KEY", "X-API-SECRET"} if "/partners/" in path else set())
        assert ("-d" in words) == (method != "get" and "/public/" not in path)
        assert ("-F" in words) == (method == "post" and path.endswith("/submit"))
        assert ("?token=TOKEN" in words[2]) == (path == "/public/unsubscribe")


class Sender:
    """A stand-in for the library requests. It records one request."""

    def __getattr__(self, method: str) -> Any:
        def send(url: str, **content: Any) -> Mock:
            self.sent = {"method": method, "url": url, **content}
            return Mock()

        return send


def test_python_and_javascript_examples_send_the_request_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variables = {name: f"<{name}>" for name in ("BASE_URL", "API_KEY", "API_SECRET", NOW, *SOURCES)}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for path, method, operation in OPERATIONS:
        request, sender = request_of(DOCUMENT, path, method, operation), Sender()
        monkeypatch.setitem(sys.modules, "requests", sender)  # type: ignore[arg-type]
        exec(python(request), {})  # noqa: S102 - a program from this repository
        expected_url = Template(f"$BASE_URL{request.path}").substitute(variables)
        assert (sender.sent["method"], sender.sent["url"]) == (method, expected_url)
        sent_json = json.dumps(request.json_body)
        assert sender.sent.get("json") == json.loads(Template(sent_json).substitute(variables))
        parts = {name: value for name, (_, value) in sender.sent.get("files", {}).items()}
        assert parts == request.parts
        headers = sender.sent.get("headers", {})
        assert headers.keys() == request.headers.keys() - {"Content-Type"}

        program = javascript(request)
        body = re.search(r"body: JSON.stringify\((.*)\),\n", program, re.DOTALL)
        shown = re.sub(r"process\.env\.([A-Z_]+)", r'"$\1"', body[1]) if body else "null"
        assert json.loads(shown) == request.json_body
        assert f'method: "{method.upper()}"' in program
        assert program.count("body.append(") == len(request.parts)
        assert all(f'"{name}": ' in program for name in request.headers)


def test_html_in_descriptions_is_escaped() -> None:
    assert prose("a <b>\n\n`<i>` & **x**") == (
        "<p>a &lt;b&gt;</p><p><code>&lt;i&gt;</code> &amp; <strong>x</strong></p>"
    )
    assert inline("<script>") == "&lt;script&gt;"


PAGE = Page(DOCUMENT, {"schema-Tag": "customers"}, {}, "purchases", "Purchases")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "string", "format": "uuid"}, "UUID"),
        (
            {"$ref": "#/components/schemas/Tag"},
            '<a href="../docs/customers#schema-Tag">Tag</a>',
        ),
        (
            {"anyOf": [{"$ref": "#/components/schemas/Tag"}, {"type": "null"}]},
            '<a href="../docs/customers#schema-Tag">Tag</a> or null',
        ),
        ({"type": "array", "items": {"type": "string"}}, "array of string"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "map to string"),
        ({}, "any"),
    ],
)
def test_schema_type_is_described_in_words(schema: dict[str, object], words: str) -> None:
    assert PAGE.kind_of(schema) == words


def test_fields_of_nested_object_are_listed_after_parent_field() -> None:
    schema = {"$ref": "#/components/schemas/SurveyPage"}
    assert [row.name for row in PAGE.rows(schema)] == ["items", "meta"]
    nested_rows = [(row.name, row.depth) for row in PAGE.rows(schema, deepest=1)]
    assert nested_rows[:2] == [("items", 0), ("id", 1)]
    assert ("currentPage", 1) in nested_rows
    assert ("fieldRadius", 2) not in nested_rows


def test_schema_limits_and_defaults_are_described_in_words() -> None:
    assert list(limits({"minimum": 1, "maximum": 1000})) == ["1 to 1,000"]
    assert list(limits({"minLength": 1, "default": False})) == [
        "at least 1 characters",
        "default false",
    ]


def test_docs_pages_require_no_credentials(docs: dict[str, str], respondent: Partner) -> None:
    for name, html in docs.items():
        response = respondent.get(path_of(name))
        media_type = response.headers["content-type"]
        assert (response.status, media_type) == (200, "text/html; charset=utf-8")
        assert response.headers["cache-control"] == "public, max-age=300"
        assert response.body == html
        policy = response.headers["content-security-policy"].split("; ")
        style = html.split("<style>")[1].split("</style>")[0]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        expected = ["default-src 'none'", f"style-src 'sha256-{digest}'", "script-src 'self'"]
        assert policy[:3] == expected
        assert "frame-ancestors 'none'" in policy
        assert policy[-1] == "connect-src 'self'"
        unchanged = respondent.get(path_of(name), {"If-None-Match": response.headers["etag"]})
        assert (unchanged.status, unchanged.headers["content-type"]) == (304, media_type)


@pytest.mark.parametrize("tag", ["index", "Purchases", "nothing", "..", "..%2Fopenapi", "a.html"])
def test_unknown_docs_page_is_not_found(
    docs: dict[str, str], respondent: Partner, tag: str
) -> None:
    response = respondent.get(f"/docs/{tag}")
    assert (response.status, response.json["code"]) == (404, "not_found")
