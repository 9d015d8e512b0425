"""Tests of ``form`` and ``survey``: links, QR codes and posters."""

import json
import re
from pathlib import Path

import pytest

from admin.commands import form as form_commands
from admin.services.definitions.kinds import BRAND, CONTACT_FORM, STORE, save
from admin.services.forms.poster import SCAN
from chalicelib.domain.solicitation.links import short_tracker
from chalicelib.services.caching import clear_caches
from tests.admin.command import run
from tests.docs.blocks import ROOT
from tests.domain.forms.factories import IMAGE, contact_form
from tests.web.definitions import brand_definition, store_definition
from tests.web.seeded_account import SeededAccount, seed_account

pytestmark = pytest.mark.usefixtures("cloud")

BASE = "https://feedback.example.com"


@pytest.fixture
def seeded() -> SeededAccount:
    return seed_account()


def test_link_prints_url_of_page(seeded: SeededAccount) -> None:
    form, survey, store = seeded.contact_form_id, seeded.survey_id, seeded.store_id
    result = run("form", "link", form, "--base-url", f"{BASE}/", "--language", "fr")
    assert result.stdout == f"{BASE}/public/contact-form/page?id={form}&language=fr\n"
    result = run("survey", "link", survey, "--store", store, "--base-url", BASE, "--json")
    assert json.loads(result.stdout) == {
        "url": f"{BASE}/s/s{short_tracker(survey)}{short_tracker(store)}"
    }


def test_link_starts_with_base_url_of_stage(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(form_commands, "public_base_url", lambda: BASE)
    assert run("form", "link", seeded.contact_form_id).stdout.startswith(f"{BASE}/s/c")


def test_qr_prints_code_and_url(seeded: SeededAccount) -> None:
    lines = run("form", "qr", seeded.contact_form_id, "--base-url", BASE).stdout.splitlines()
    assert len({len(line) for line in lines[:-1]}) == 1
    assert set("".join(lines[:-1])) <= set(" ▀▄█")
    assert lines[-1] == f"{BASE}/s/c{short_tracker(seeded.contact_form_id)}"


def test_qr_writes_image_and_poster_for_form_and_each_store(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    form, store = seeded.contact_form_id, seeded.store_id
    seeded.contact_form(header={"title": "Was it <good>?"})
    command = ("form", "qr", form, "--base-url", BASE, "--output", tmp_path)
    assert run(*command, "--svg", "--poster").exit_code == 0
    places = ("maison-lumen", "maison-lumen-lyon-bellecour")
    names = {f"{name}.{suffix}" for name in places for suffix in ("svg", "html", "tent.html")}
    assert {file.name for file in tmp_path.iterdir()} == names
    poster = (tmp_path / "maison-lumen-lyon-bellecour.html").read_text()
    assert "Was it &lt;good&gt;?" in poster
    assert f"/s/c{short_tracker(form)}{short_tracker(store)}" in poster
    assert "Lyon" in poster
    assert not re.search(r"(src|href)=", poster)
    tent = (tmp_path / "maison-lumen-lyon-bellecour.tent.html").read_text()
    assert (poster.count("<h1>"), tent.count("<h1>")) == (1, 2)


def test_poster_has_logo_and_hints_in_the_languages_of_the_form(
    seeded: SeededAccount, tmp_path: Path
) -> None:
    seeded.contact_form(autoTranslate=True, logo=IMAGE, translations={"ar": {}, "fr": {}})
    options = ("--base-url", BASE, "--output", tmp_path, "--poster")
    run("form", "qr", seeded.contact_form_id, *options)
    poster = (tmp_path / "maison-lumen.html").read_text()
    hints = re.findall(r'<bdi lang="(..)">([^<]+)', poster)
    assert hints == [(language, SCAN[language]) for language in ("en", "ar", "fr")]
    assert f'<img class="logo" src="{IMAGE["url"]}"' in poster


def test_posters_have_a_hint_in_each_language_of_pages() -> None:
    languages = {file.stem for file in (ROOT / "infrastructure/catalogues/po").glob("*.po")}
    assert SCAN.keys() == languages | {"en"}


def test_qr_of_store_writes_only_its_poster_and_tent(seeded: SeededAccount, tmp_path: Path) -> None:
    options = ("--store", seeded.store_id, "--base-url", BASE, "--output", tmp_path, "--poster")
    assert run("survey", "qr", seeded.survey_id, *options).exit_code == 0
    names = {"maison-lumen-lyon-bellecour.html", "maison-lumen-lyon-bellecour.tent.html"}
    assert {file.name for file in tmp_path.iterdir()} == names


@pytest.mark.parametrize("name", ["Lyon Bellecour", "Maison Lumen Lyon Bellecour"])
def test_stores_with_the_same_name_have_different_posters(
    seeded: SeededAccount, tmp_path: Path, name: str
) -> None:
    twin = save(STORE, seeded.account_id, store_definition(seeded.brand_id, name=name))
    clear_caches()
    options = ("--base-url", BASE, "--output", tmp_path, "--svg")
    assert run("form", "qr", seeded.contact_form_id, *options).exit_code == 0
    names = {file.stem for file in tmp_path.iterdir()}
    ends = (seeded.store_id[:8], twin.id[:8])
    lyon = "maison-lumen-lyon-bellecour"
    assert names in [{"maison-lumen", lyon, f"{lyon}-{end}"} for end in ends]


@pytest.mark.parametrize("command", [("qr", "--poster"), ("qr",), ("link",)])
def test_store_that_is_no_target_is_rejected(
    seeded: SeededAccount, tmp_path: Path, command: tuple[str, ...]
) -> None:
    other_brand = save(BRAND, seeded.account_id, brand_definition())
    other = save(STORE, seeded.account_id, store_definition(other_brand.id))
    clear_caches()
    options = ("--store", other.id, "--base-url", BASE, *command[1:])
    seeded.survey(targets=[{"type": "STORE", "targetId": seeded.store_id}])
    result = run("survey", command[0], seeded.survey_id, *options)
    assert (result.exit_code, "not a target of the survey" in result.stderr) == (1, True)


@pytest.mark.parametrize("command", ["qr", "link"])
def test_store_of_other_brand_is_rejected_if_brand_has_no_stores(
    seeded: SeededAccount, command: str
) -> None:
    brand = save(BRAND, seeded.account_id, brand_definition())
    form = contact_form(id=seeded.contact_form_id, brandId=brand.id, enabled=True)
    save(CONTACT_FORM, seeded.account_id, form)
    clear_caches()
    options = ("--store", seeded.store_id, "--base-url", BASE)
    result = run("form", command, seeded.contact_form_id, *options)
    assert (result.exit_code, "Unknown store." in result.stderr) == (1, True)


def test_poster_has_direction_of_its_language(seeded: SeededAccount, tmp_path: Path) -> None:
    seeded.contact_form(language="he")
    options = ("--base-url", BASE, "--output", tmp_path, "--poster")
    run("form", "qr", seeded.contact_form_id, *options)
    poster = (tmp_path / "maison-lumen.html").read_text()
    assert '<html lang="he" dir="rtl">' in poster


def test_link_of_form_that_respondents_cannot_open_is_an_error(seeded: SeededAccount) -> None:
    result = run("survey", "link", seeded.private_survey_id, "--base-url", BASE)
    assert (result.exit_code, "private" in result.stderr) == (1, True)
    seeded.contact_form(enabled=False)
    result = run("form", "link", seeded.contact_form_id, "--base-url", BASE)
    assert (result.exit_code, "disabled" in result.stderr) == (1, True)


def test_form_that_opens_later_has_link_but_closed_form_has_none(seeded: SeededAccount) -> None:
    for definition, code in (
        ({"opensAt": "2100-01-01T00:00:00Z"}, 0),
        ({"closesAt": "2000-01-01T00:00:00Z"}, 1),
    ):
        seeded.contact_form(**definition)
        assert run("form", "link", seeded.contact_form_id).exit_code == code


def test_link_and_poster_contain_labels(seeded: SeededAccount, tmp_path: Path) -> None:
    form = seeded.contact_form_id
    seeded.contact_form(labels={"table": {"maxDigits": 2}})
    command = (form, "--base-url", BASE, "--label", "table=12")
    short = f"{BASE}/s/c{short_tracker(form)}?l.table=12"
    assert run("form", "link", *command).stdout == f"{short}\n"
    long = run("form", "link", *command, "--language", "fr").stdout
    assert long == f"{BASE}/public/contact-form/page?id={form}&language=fr&l.table=12\n"
    assert run("form", "qr", *command, "--svg", "--output", tmp_path).exit_code == 0
    assert "maison-lumen-table-12.svg" in {file.name for file in tmp_path.iterdir()}
    result = run("form", "link", form, "--label", "table=123", "--label", "x")
    assert result.exit_code == 1
    assert "/labels/table: Must be" in result.stderr
    assert "/labels/x: Unknown label." in result.stderr
