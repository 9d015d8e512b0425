"""The page of the interface: everything on it, nothing from elsewhere."""

import base64
import hashlib
import re
import shlex
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from chalicelib.web.openapi.docs_page import curl, docs_page, inline, kind_of, prose, rows
from chalicelib.web.openapi.document import description
from tests.web.partner_client import Partner

DOCUMENT = description()
OPERATIONS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


class Respondent(HTMLParser):
    """Collects the tags of a page with their attributes, and whether they are closed in order."""

    VOID = {"meta", "br", "wbr"}

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


HTML = docs_page().html
PAGE = Respondent(HTML)


def test_it_is_whole_html() -> None:
    assert PAGE.open == []
    assert HTML.lstrip().lower().startswith("<!doctype html>")


def test_nothing_is_asked_of_any_host() -> None:
    used = {tag for tag, _ in PAGE.tags}
    assert used.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "video", "base"})
    assert PAGE.all("src") + PAGE.all("srcset") + PAGE.all("style") == []
    style = re.search(r"<style>(.*?)</style>", HTML, re.DOTALL)
    assert style
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert not any("//" in address for address in PAGE.all("href"))


def test_its_policy_allows_its_own_style_and_nothing_else() -> None:
    style = re.search(r"<style>(.*?)</style>", HTML, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = docs_page().headers["Content-Security-Policy"]
    assert str(policy).split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]


def test_every_link_leads_somewhere() -> None:
    places = PAGE.all("id")
    assert len(set(places)) == len(places)
    for address in PAGE.all("href"):
        assert address == "openapi.json" or address.removeprefix("#") in places
    for name in PAGE.all("aria-labelledby"):
        assert name in places


def test_every_operation_and_every_schema_has_its_place() -> None:
    places = set(PAGE.all("id"))
    assert {operation["operationId"] for _, _, operation in OPERATIONS} <= places
    assert {f"schema-{name}" for name in DOCUMENT["components"]["schemas"]} <= places


def test_it_can_be_found_ones_way_around_without_seeing_it() -> None:
    tags = [tag for tag, _ in PAGE.tags]
    assert [tags.count(landmark) for landmark in ("header", "nav", "main", "h1")] == [1] * 4
    assert dict(PAGE.tags)["html"] == {"lang": "en"}
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tags.count("table") == tags.count("caption")


@pytest.mark.parametrize(
    ("path", "method", "operation"),
    [pytest.param(*each, id=each[2]["operationId"]) for each in OPERATIONS],
)
def test_every_operation_has_a_command(path: str, method: str, operation: dict[str, str]) -> None:
    words = shlex.split(curl(path, method, operation).replace("\\\n", ""))
    assert words[0] == "curl"
    assert words[2].startswith(f"$BASE_URL{path}")
    sent = {word.partition(":")[0] for word in words if ": " in word and word.startswith("X-")}
    assert sent == ({"X-API-KEY", "X-API-SECRET"} if "/partners/" in path else set())
    assert ("-d" in words) == (method == "post" and "/public/" not in path)
    assert ("-F" in words) == (method == "post" and "/public/" in path)


def test_words_are_escaped() -> None:
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
def test_types_are_put_in_words(schema: dict[str, object], words: str) -> None:
    kind = kind_of(schema)
    assert f"{kind.before}{kind.schema}{kind.after}" == words


def test_keys_of_inner_objects_follow_their_own() -> None:
    schema = {"$ref": "#/components/schemas/SurveyPage"}
    assert [row.name for row in rows(schema)] == ["items", "meta"]
    opened = [(row.name, row.depth) for row in rows(schema, deepest=1)]
    assert opened[0] == ("items", 0)
    assert opened[1] == ("id", 1)
    assert ("currentPage", 1) in opened
    assert ("fieldRadius", 2) not in opened


def test_limits_and_defaults_are_in_words() -> None:
    limit = next(rows({"$ref": "#/components/schemas/PageRequest"}))
    assert limit.limits == ("1 to 100", "default 10")


def test_it_is_read_without_credentials(respondent: Partner) -> None:
    answer = respondent.get("/docs")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.body == HTML


def test_who_has_it_already_is_told_so(respondent: Partner) -> None:
    tag = respondent.get("/docs").headers["etag"]
    assert respondent.get("/docs", {"If-None-Match": tag}).status == 304
