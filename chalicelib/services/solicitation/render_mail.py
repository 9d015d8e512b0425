"""Render the HTML part and the text part of an invitation by e-mail."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from chalicelib.domain.plain_text import unbroken
from chalicelib.domain.solicitation.mail_content import MailContent

if TYPE_CHECKING:
    from jinja2 import Environment


def render_html(mail: MailContent) -> str:
    """Return the HTML part."""
    return _environment().get_template("invitation.html").render(mail=mail)


def render_text(mail: MailContent) -> str:
    """Return the text part."""
    return _environment().get_template("invitation.txt").render(mail=mail)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["unbroken"] = unbroken
    return environment
