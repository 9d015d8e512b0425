"""The guides for partners and their example programs, as pages of the documentation."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_DOCS: Final = Path(__file__).parents[2] / "docs"
_GUIDES: Final = ("integrating.md", "webhooks.md")
_PROGRAMS: Final = ("feedback_mirror.py", "webhook_receiver.py", "webhook_receiver.mjs")
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Article:
    """A heading of the second level with its text, or an example program."""

    id: str
    title: str
    body: Markup


@dataclass(frozen=True)
class Guide:
    """A guide. Its introduction is the text before its first article."""

    id: str
    title: str
    introduction: Markup
    articles: list[Article]


def guides() -> list[Guide]:
    """Return the guides for partners, then the programs to which they link."""
    programs = [
        Article(
            _anchor(f"examples/{name}"),
            name,
            Markup('<pre tabindex="0"><code>{}</code></pre>').format(
                (_DOCS / "examples" / name).read_text(encoding="utf-8")
            ),
        )
        for name in _PROGRAMS
    ]
    introduction = Markup("<p>Save a program under its name, and read its first lines.</p>")
    return [
        *map(_guide, _GUIDES),
        Guide("guide-examples", "Example programs", introduction, programs),
    ]


def sources() -> list[Path]:
    """Return the files of the guides and of their programs."""
    return [_DOCS / name for name in (*_GUIDES, *(f"examples/{each}" for each in _PROGRAMS))]


def _guide(file: str) -> Guide:
    tokens = _MARKDOWN.parse((_DOCS / file).read_text(encoding="utf-8"))
    starts = [n for n, token in enumerate(tokens) if token.type == "heading_open"]
    articles = []
    for start, end in pairwise([*starts, len(tokens)]):
        title = tokens[start + 1].content  # a heading has three tokens
        body = _render(file, title, tokens[start + 3 : end])
        articles.append(Article(_anchor(f"#{title}", file), title, body))
    first = articles.pop(0)
    return Guide(_anchor(file), first.title, first.body, articles)


def _render(file: str, caption: str, tokens: list[Token]) -> Markup:
    """Render a part of a guide. Comments are omitted: they are about the tests of the guides."""
    shown = [token for token in tokens if token.type != "html_block"]
    for token in shown:
        for child in token.children or ():
            if child.type == "link_open":
                anchor = _anchor(str(child.attrs["href"]), file)
                page = "-".join(anchor.split("-")[:2])
                child.attrs["href"] = page if anchor == page else f"{page}#{anchor}"
    html = _MARKDOWN.renderer.render(shown, _MARKDOWN.options, {})
    html = re.sub("<pre><code[^>]*>", '<pre tabindex="0"><code>', html)
    html = html.replace("<th>", '<th scope="col">')
    return Markup(html.replace("<table>", f"<table>\n<caption>{caption}</caption>"))  # noqa: S704


def _anchor(link: str, file: str = "") -> str:
    """Return the id of the place on the page to which a link in a file leads."""
    parts = urlsplit(link)
    words = f"guide {(parts.path or file).removesuffix('.md')} {parts.fragment}".lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")
