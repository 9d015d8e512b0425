"""Find the code blocks and links of the documentation."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]

_NOT_EXECUTED = re.compile(r"<!-- Not executed by tests: (.+)\. -->")
_ADMIN = "bin/feedback-admin "


@dataclass(frozen=True)
class Block:
    """A code block of a page.

    Attributes:
        language: the language of a fenced block; ``""`` for an indented block.
        not_executed: why no test executes the block; ``""`` if a test executes it. The page
            contains the reason as a comment above the block.
    """

    page: str
    line: int
    language: str
    text: str
    not_executed: str = ""

    @property
    def admin_commands(self) -> list[str]:
        """The operator commands of the block, without ``bin/feedback-admin``."""
        lines = self.text.splitlines()
        return [line.removeprefix(_ADMIN) for line in lines if line.startswith(_ADMIN)]


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """Return the code blocks of a page in their order.

    Fenced blocks in the language ``text`` are figures, not code.

    Args:
        page: the path of the page, relative to the root of the project.
    """
    found: list[Block] = []
    lines = (ROOT / page).read_text().splitlines()
    reason, number = "", 0
    while number < len(lines):
        line, start = lines[number], number
        number += 1
        if marker := _NOT_EXECUTED.fullmatch(line.strip()):
            reason = marker[1]
            continue
        if fence := re.fullmatch(r" *```(\w*)", line):
            language, end = fence[1], "```"
            while lines[number].strip() != end:
                number += 1
            content, number = lines[start + 1 : number], number + 1
        elif line.startswith("    ") and not lines[start - 1].strip():
            language = ""
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number]):
                number += 1
            content = lines[start:number]
        else:
            reason = reason if not line.strip() else ""
            continue
        if language != "text":
            text = dedent("\n".join(content)).strip() + "\n"
            found.append(Block(page, start + 1, language, text, reason))
        reason = ""
    return tuple(found)


def block(page: str, containing: str) -> Block:
    """Return the only executed code block of a page that contains this text."""
    (found,) = (b for b in blocks(page) if containing in b.text and not b.not_executed)
    return found
