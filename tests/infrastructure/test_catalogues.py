"""Tests of the command that compiles and checks the catalogues of the words of pages."""

import gettext
import shutil
from pathlib import Path

import pytest

from infrastructure.catalogues import __main__ as catalogues

SOURCE = "fr.po"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy one catalogue to a folder, and let the command use this folder."""
    shutil.copy(catalogues._SOURCES / SOURCE, tmp_path)
    monkeypatch.setattr(catalogues, "_SOURCES", tmp_path)
    for words in catalogues._WORDS:
        monkeypatch.setattr(words, "LOCALES", tmp_path / words.DOMAIN)
    monkeypatch.setattr(catalogues, "SEPARATORS", tmp_path / "separators.json")
    monkeypatch.setattr(catalogues, "FORMATS", tmp_path / "date_formats.json")
    return tmp_path


def test_compiled_catalogues_pass_check(sources: Path) -> None:
    assert catalogues.main([]) == 0
    assert catalogues.main(["--check"]) == 0


def test_pages_and_reports_have_only_their_own_messages(sources: Path) -> None:
    catalogues.main([])
    pages, report = (
        gettext.translation(words.DOMAIN, words.LOCALES, ["fr"]).gettext
        for words in catalogues._WORDS
    )
    assert (pages("Yes"), report("Yes")) == ("Oui", "Oui")
    assert (pages("Send"), report("Send")) == ("Envoyer", "Send")
    assert (pages("Weeks"), report("Weeks")) == ("Weeks", "Semaines")


def test_new_language_lists_missing_translations(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sources / "sv.po").touch()
    assert catalogues.main([]) == 1
    assert "sv.po: 'Send' has no translation." in capsys.readouterr().err
    assert 'msgid "Send"\nmsgstr ""' in (sources / "sv.po").read_text()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('msgid "Send"', 'msgid "Post"', "'Post' is missing or unused"),
        ('msgstr "Envoyer"', 'msgstr "Poster"', "is out of date"),
        ("%(max)s caractères", "%(min)s caractères", "unknown named placeholder"),
    ],
)
def test_changed_catalogue_fails_check(
    sources: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, problem: str
) -> None:
    catalogues.main([])
    source = sources / SOURCE
    source.write_text(source.read_text().replace(old, new, 1))
    assert catalogues.main(["--check"]) == 1
    assert problem in capsys.readouterr().err
