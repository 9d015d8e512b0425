"""Tests of the catalogues of words, and of what is compiled from them."""

import gettext
import re
import shutil
from pathlib import Path

import pytest

from infrastructure.catalogues import compiled as catalogues
from infrastructure.generate import __main__ as generate
from infrastructure.generate import configuration

SOURCE = "fr.po"
NAMELESS = {("cs", "Hello %(name)s,"), ("el", "Hello %(name)s,"), ("uk", "Hello %(name)s,")}
"""Greetings without the name. In these languages, a name in a greeting has another ending."""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy one catalogue to a folder, and generate only from this folder."""
    shutil.copy(catalogues._SOURCES / SOURCE, tmp_path)
    monkeypatch.setattr(catalogues, "_SOURCES", tmp_path)
    for words in catalogues._WORDS:
        monkeypatch.setattr(words, "LOCALES", tmp_path / words.DOMAIN)
    monkeypatch.setattr(catalogues, "DATE_FORMATS", tmp_path / "date_formats.json")
    monkeypatch.setattr(generate, "_PARTS", (catalogues,))
    monkeypatch.setattr(configuration, "POLICIES", tmp_path / "policies")
    return tmp_path


def test_compiled_catalogues_pass_check(sources: Path) -> None:
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_compiled_catalogues_have_only_their_own_words(sources: Path) -> None:
    generate.main([])
    french = [
        gettext.translation(words.DOMAIN, words.LOCALES, ["fr"]).gettext
        for words in catalogues._WORDS
    ]
    words = ("Satisfied", "Send", "Unsubscribe", "Weeks")
    assert [[translated(word) for word in words] for translated in french] == [
        ["Satisfied", "Envoyer", "Unsubscribe", "Weeks"],
        ["Satisfait", "Send", "Unsubscribe", "Weeks"],
        ["Satisfied", "Send", "Se désabonner", "Weeks"],
        ["Satisfied", "Send", "Unsubscribe", "Semaines"],
    ]


def test_translations_exist_and_have_placeholders_of_source() -> None:
    different = {
        (file.stem, message.id)
        for file in catalogues._SOURCES.glob("*.po")
        for message in catalogues._read(file)
        if message.id and not message.pluralizable
        if not message.string or placeholders(message.id) != placeholders(message.string)
    }
    assert different == NAMELESS


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"%\(\w+\).", text))


def test_new_language_lists_missing_translations(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sources / "sv.po").touch()
    assert generate.main([]) == 1
    assert "sv.po: 'Send' has no translation." in capsys.readouterr().err
    assert 'msgid "Send"\nmsgstr ""' in (sources / "sv.po").read_text()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('msgid "Send"', 'msgid "Post"', "is out of date"),
        ('msgstr "Envoyer"', 'msgstr "Poster"', "is out of date"),
        ("sur %(total)d", "sur %(sum)d", "unknown named placeholder"),
    ],
)
def test_changed_catalogue_fails_check(
    sources: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, problem: str
) -> None:
    generate.main([])
    source = sources / SOURCE
    source.write_text(source.read_text().replace(old, new, 1))
    assert generate.main(["--check"]) == 1
    assert problem in capsys.readouterr().err
