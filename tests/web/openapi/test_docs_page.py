"""Test that the documentation page is complete, accessible and independent of other hosts."""

import base64
import hashlib
import json
import re
import shlex
import sys
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from string import Template
from typing import Any
from unittest.mock import Mock

import pytest
from markupsafe import escape

from chalicelib.web.openapi import routes
from chalicelib.web.pages.assets import asset_hash, asset_text
from infrastructure.openapi.docs_examples import curl, javascript, python
from infrastructure.openapi.docs_page import (
    NOW,
    SCRIPT,
    SOURCES,
    DocsPage,
    inline,
    kind_of,
    limits,
    prose,
    render,
)
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

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


HTML = routes.PAGE.read_text(encoding="utf-8")
DOCS = DocsPage(DOCUMENT)


@cache
def parsed_page() -> Tags:
    """Return the tags of the page. Only the process that runs these tests parses the page."""
    return Tags(HTML)


def test_docs_page_is_generated_from_openapi_document() -> None:
    assert render(DOCUMENT) == HTML


def test_docs_page_is_well_formed_html() -> None:
    assert parsed_page().open == []
    assert HTML.lstrip().lower().startswith("<!doctype html>")


def test_docs_page_loads_nothing_from_other_hosts() -> None:
    used = {tag for tag, _ in parsed_page().tags}
    assert used.isdisjoint({"link", "img", "iframe", "object", "embed", "video", "base"})
    assert parsed_page().all("src") == [f"public/assets/{asset_hash(SCRIPT)}/{SCRIPT}"]
    assert parsed_page().all("srcset") + parsed_page().all("style") == []
    style = re.search(r"<style>(.*?)</style>", HTML, re.DOTALL)
    assert style
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert not any("//" in address for address in parsed_page().all("href"))


def test_content_security_policy_allows_only_style_and_script_of_docs_page(
    respondent: Partner,
) -> None:
    style = re.search(r"<style>(.*?)</style>", HTML, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = respondent.get("/docs").headers["content-security-policy"]
    style_source = f"style-src 'sha256-{digest}'"
    assert policy.split("; ")[:3] == ["default-src 'none'", style_source, "script-src 'self'"]


def test_script_of_docs_page_is_served(respondent: Partner) -> None:
    response = respondent.get(f"/{parsed_page().all('src')[0]}")
    assert (response.status, response.body) == (200, asset_text(SCRIPT))


def test_every_link_in_docs_page_has_target() -> None:
    ids = parsed_page().all("id")
    assert len(set(ids)) == len(ids)
    for address in parsed_page().all("href"):
        assert address == "openapi.json" or address.removeprefix("#") in ids
    for name in parsed_page().all("aria-labelledby"):
        assert name in ids


def test_docs_page_contains_every_operation_and_schema() -> None:
    ids = set(parsed_page().all("id"))
    assert {operation["operationId"] for _, _, operation in OPERATIONS} <= ids
    assert {f"schema-{name}" for name in DOCUMENT["components"]["schemas"]} <= ids


@pytest.mark.parametrize("name", ["integrating", "webhooks"])
def test_docs_page_contains_guide_with_its_programs(name: str) -> None:
    text = (ROOT / f"docs/{name}.md").read_text()
    headings = re.findall("^## (.+)$", text, re.MULTILINE)
    assert re.findall(f'<h3 id="guide-{name}-[a-z-]+-title">(.+)</h3>', HTML) == headings
    programs = set(re.findall(r"\]\((examples/.+?)\)", text))
    assert programs
    assert all(escape((ROOT / "docs" / path).read_text()) in HTML for path in programs)
    assert "Not executed by tests" not in HTML


def test_docs_page_has_landmarks_headings_and_captions() -> None:
    tags = [tag for tag, _ in parsed_page().tags]
    assert [tags.count(landmark) for landmark in ("header", "nav", "main", "h1")] == [1] * 4
    assert dict(parsed_page().tags)["html"] == {"lang": "en"}
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tags.count("table") == tags.count("caption")


@pytest.mark.parametrize(
    ("path", "method", "operation"),
    [pytest.param(*operation, id=operation[2]["operationId"]) for operation in OPERATIONS],
)
def test_every_operation_in_docs_page_has_curl_command(
    path: str, method: str, operation: dict[str, Any]
) -> None:
    words = shlex.split(curl(DOCS.request(path, method, operation)).replace("\\\n", ""))
    in_path = {p["name"]: p["example"] for p in operation["parameters"] if p["in"] == "path"}
    assert words[0] == "curl"
    assert words[2].startswith(f"$BASE_URL{path.format(**in_path)}")
    sent = {word.partition(":")[0] for word in words if ": " in word and word.startswith("X-")}
    assert sent == ({"X-API-KEY", "X-API-SECRET"} if "/partners/" in path else set())
    assert ("-d" in words) == (method != "get" and "/public/" not in path)
    assert ("-F" in words) == (method == "post" and path.endswith("/submit"))


@pytest.mark.parametrize("method", ["get", "post"])
def test_unsubscribe_command_contains_placeholder_token(method: str) -> None:
    path = "/public/unsubscribe"
    command = curl(DOCS.request(path, method, DOCUMENT["paths"][path][method]))
    assert f'"$BASE_URL{path}?token=TOKEN"' in command


class Sender:
    """A stand-in for the library requests. It records one request."""

    def __getattr__(self, method: str) -> Any:
        def send(url: str, **content: Any) -> Mock:
            self.sent = {"method": method, "url": url, **content}
            return Mock()

        return send


@pytest.mark.parametrize(
    ("path", "method", "operation"),
    [pytest.param(*operation, id=operation[2]["operationId"]) for operation in OPERATIONS],
)
def test_python_and_javascript_examples_send_the_request_of_the_command(
    path: str,
    method: str,
    operation: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request, sender = DOCS.request(path, method, operation), Sender()
    names = ("BASE_URL", "API_KEY", "API_SECRET", NOW, *SOURCES)
    variables = {name: f"<{name}>" for name in names}
    monkeypatch.setitem(sys.modules, "requests", sender)  # type: ignore[arg-type]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
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


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "string", "format": "uuid"}, "UUID"),
        ({"$ref": "#/components/schemas/Tag"}, "Tag"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Tag"}}, "array of Tag"),
        ({"anyOf": [{"$ref": "#/components/schemas/Tag"}, {"type": "null"}]}, "Tag or null"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "map to string"),
        ({}, "any"),
    ],
)
def test_schema_type_is_described_in_words(schema: dict[str, object], words: str) -> None:
    assert kind_of(schema).striptags() == words


def test_fields_of_nested_object_are_listed_after_parent_field() -> None:
    schema = {"$ref": "#/components/schemas/SurveyPage"}
    assert [row.name for row in DOCS.rows(schema)] == ["items", "meta"]
    nested_rows = [(row.name, row.depth) for row in DOCS.rows(schema, deepest=1)]
    assert nested_rows[0] == ("items", 0)
    assert nested_rows[1] == ("id", 1)
    assert ("currentPage", 1) in nested_rows
    assert ("fieldRadius", 2) not in nested_rows


def test_schema_limits_and_defaults_are_described_in_words() -> None:
    limit = next(DOCS.rows({"$ref": "#/components/schemas/PageRequest"}))
    assert list(limits(limit.schema)) == ["1 to 100"]
    display = next(DOCS.rows({"$ref": "#/components/schemas/Footer"}))
    assert list(limits(display.schema)) == ["default false"]


def test_docs_page_requires_no_credentials(respondent: Partner) -> None:
    response = respondent.get("/docs")
    assert (response.status, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert response.headers["cache-control"] == "public, max-age=300"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert response.body == HTML


def test_request_with_current_etag_of_docs_page_returns_304(respondent: Partner) -> None:
    tag = respondent.get("/docs").headers["etag"]
    response = respondent.get("/docs", {"If-None-Match": tag})
    assert (response.status, response.headers["content-type"]) == (304, "text/html; charset=utf-8")
