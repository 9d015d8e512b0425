"""The style sheet and the scripts of pages. The path of `page.js` contains a hash of the file."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

SCRIPTS: Final = ("page.js", "docs.js")
"""The scripts whose paths contain a hash."""
SCRIPT_TYPE: Final = "text/javascript; charset=utf-8"
"""The media type of all scripts."""

STYLE_SHEET: Final = "page.css"
"""The style sheet. Pages contain it, because most respondents open one page and never return: a
separate file would delay the first paint by one round trip."""

EMBED: Final = "embed.js"
"""The script that other sites load. Its path must never change, so the path contains no hash."""

_FOLDER: Final = Path(__file__).with_name("static")
_COMMENT: Final = re.compile(r"^ *(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)


@cache
def asset_text(name: str) -> str:
    """Return the content of an asset without lines of comments, which are about 15 % of it."""
    return _COMMENT.sub("", (_FOLDER / name).read_text(encoding="utf-8"))


@cache
def asset_hash(name: str) -> str:
    """Return the hash of an asset. The hash is part of the asset's path."""
    return hashlib.sha256(asset_text(name).encode()).hexdigest()[:16]


def asset_path(name: str) -> str:
    """Return the path of an asset, relative to `/public/contact-form/` and `/public/survey/`."""
    return f"../assets/{asset_hash(name)}/{name}"
