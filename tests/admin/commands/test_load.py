"""Tests of the command ``load``."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from admin.services.definitions.definition import Kind
from admin.services.definitions.kinds import RESOURCES, SURVEY
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import PageRequest
from chalicelib.services.customers.read import list_customers
from chalicelib.storage import places
from chalicelib.storage.forms import contact_forms, surveys
from tests.admin.command import new_account, run

pytestmark = pytest.mark.usefixtures("cloud")

ALL = PageRequest(limit=100)


class Definitions:
    """One definition of each kind.

    References point to later definitions, so `load` must reorder them.
    """

    def __init__(self) -> None:
        self.brand, self.store, self.customer = new_id(), new_id(), new_id()
        self.form, self.survey = new_id(), new_id()

    def all(self) -> list[dict[str, Any]]:
        return [
            {
                "kind": "survey",
                "id": self.survey,
                "name": "Survey",
                "language": "no",
                "publiclyAvailable": True,
                "targets": [{"type": "STORE", "targetId": self.store}],
                "fields": [{"key": "nps", "type": "NPS"}],
            },
            {
                "kind": "contactForm",
                "id": self.form,
                "brandId": self.brand,
                "name": "Form",
                "language": "fr",
            },
            {"kind": "customer", "id": self.customer, "firstName": "Zoé"},
            {"kind": "store", "id": self.store, "brandId": self.brand, "name": "Store"},
            {"kind": "brand", "id": self.brand, "name": "Brand"},
        ]


def write_jsonl(definitions: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("\n".join(json.dumps(definition) for definition in definitions))
    return path


def load(*arguments: str | Path) -> Any:
    """Load definitions without confirmation."""
    return run("definition", "load", "--yes", *arguments)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "all.jsonl"


def test_load_saves_referenced_resources_before_referencing_ones(file: Path) -> None:
    account, definitions = new_account(), Definitions()
    result = load(write_jsonl(definitions.all(), file), "--account", account)
    new = "1 brand, 1 store, 1 customer, 1 contact form, 1 survey"
    assert (result.exit_code, result.stderr) == (0, f"New: {new}\n")
    assert result.stdout == f"Loaded: {new}\n"
    assert [c.first_name for c in list_customers(account, ALL).items] == ["Zoé"]
    assert contact_forms.find(definitions.form)
    assert surveys.find(definitions.survey)


def test_second_load_changes_nothing(file: Path) -> None:
    account = new_account()
    write_jsonl(Definitions().all(), file)
    load(file, "--account", account)
    before = list_customers(account, ALL)
    assert load(file, "--account", account).exit_code == 0
    after = list_customers(account, ALL)
    ignored = {"updated_at": None}
    assert [c.model_copy(update=ignored) for c in after.items] == [
        c.model_copy(update=ignored) for c in before.items
    ]
    assert after.meta == before.meta
    assert contact_forms.page(account, ALL)[1] == surveys.page(account, ALL)[1] == 1


def test_load_lists_every_error_and_writes_nothing(tmp_path: Path) -> None:
    account = new_account()
    places_file, customers_file = tmp_path / "places.yaml", tmp_path / "people.json"
    places_file.write_text(
        f"""
kind: brand
id: {new_id()}
name: Good
---
kind: brand
id: no-uuid
colour: blue
---
kind: shop
"""
    )
    customers_file.write_text(
        json.dumps([7, {"kind": "customer", "id": new_id(), "email": "nobody", "account": "x"}])
    )
    command = ("definition", "load", "--yes", places_file, customers_file, "--account", account)
    result = run(*command)
    assert result.exit_code == 1
    assert not result.stdout
    *errors, last = result.stderr.splitlines()
    assert [line.split(": ")[0] + line[line.rindex(" (") :] for line in errors] == [
        f"{places_file}, definition 2, line 7, /id (invalid_uuid)",
        f"{places_file}, definition 2, line 6, /name (required)",
        f"{places_file}, definition 2, line 8, /colour (unknown_key)",
        f"{places_file}, definition 3, line 10, /kind (not_allowed)",
        f"{customers_file}, definition 1, line 1 (wrong_type)",
        f"{customers_file}, definition 2, line 1, /account (invalid_uuid)",
        f"{customers_file}, definition 2, line 1, /email (invalid_email)",
    ]
    assert "Unknown field. Did you mean color? (unknown_key)" in errors[2]
    assert last == "7 error(s); nothing was written."
    repeated = run(*command, "--json")
    assert json.loads(repeated.stdout) == {"loaded": {}, "rejected": 7}
    assert places.load_directory(account).places == ()


def test_load_rejects_unknown_references_before_writing(file: Path) -> None:
    account, definitions = new_account(), Definitions()
    without_places = [d for d in definitions.all() if d["kind"] in ("survey", "store")]
    result = load(write_jsonl(without_places, file), "--account", account)
    assert result.exit_code == 1
    assert [line.split(", ")[2].split(":")[0] for line in result.stderr.splitlines()[:-1]] == [
        "/brandId",
    ]
    assert places.load_directory(account).places == ()


def test_reference_is_not_reported_as_unknown_if_a_file_is_unreadable(
    tmp_path: Path, file: Path
) -> None:
    broken = tmp_path / "places.yaml"
    broken.write_text("kind: brand\n  id: [")
    form = Definitions().all()[1]
    result = load(broken, write_jsonl([form], file), "--account", new_account())
    assert result.stderr.splitlines()[-1] == "1 error(s); nothing was written."


def test_load_rejects_form_with_rule_errors_before_writing(file: Path) -> None:
    account, definitions = new_account(), Definitions()
    survey, brand = definitions.all()[0], definitions.all()[4]
    invalid_survey = survey | {"targets": [], "preRedirect": True, "postRedirectThreshold": 11}
    result = load(write_jsonl([invalid_survey, brand], file), "--account", account)
    assert "/preRedirectConfig" in result.stderr
    assert "/postRedirectThreshold" in result.stderr
    assert places.load_directory(account).places == ()


def test_load_rejects_duplicate_id(file: Path) -> None:
    customer = {"kind": "customer", "id": new_id(), "firstName": "A"}
    result = load(write_jsonl([customer, customer], file), "--account", new_account())
    assert f"{file}, definition 2, /id: Duplicate id, first used in {file}, definition 1." in (
        result.stderr
    )


def test_definition_with_account_is_loaded_into_that_account(file: Path) -> None:
    first, second = new_account(), new_account()
    customers = [
        {"kind": "customer", "id": new_id(), "firstName": "A", "account": first},
        {"kind": "customer", "id": new_id(), "firstName": "B", "account": second},
    ]
    assert load(write_jsonl(customers, file)).exit_code == 0
    assert [c.first_name for c in list_customers(first, ALL).items] == ["A"]
    assert [c.first_name for c in list_customers(second, ALL).items] == ["B"]


@pytest.mark.parametrize("account", [[], ["--account", new_id()]])
def test_definition_of_unknown_account_is_rejected(file: Path, account: list[str]) -> None:
    result = load(write_jsonl([{"kind": "brand", "id": new_id(), "name": "A"}], file), *account)
    assert result.exit_code == 1
    assert "/account" in result.stderr


def test_failed_save_of_one_definition_does_not_stop_load(file: Path) -> None:
    first, second, definitions = new_account(), new_account(), Definitions()
    load(write_jsonl(definitions.all(), file), "--account", first)
    result = load(file, "--account", second)
    assert result.exit_code == 1
    assert "definition 2: This id is already used by another account's form. (conflict)" in (
        result.stderr
    )
    assert list_customers(second, ALL).meta.total_items == 1


def test_loaded_customers_are_listed_in_definition_order(file: Path) -> None:
    account = new_account()
    customers = [{"kind": "customer", "id": new_id(), "firstName": str(n)} for n in range(12)]
    load(write_jsonl(customers, file), "--account", account)
    assert [c.first_name for c in list_customers(account, ALL).items] == [str(n) for n in range(12)]


def test_unavailable_database_stops_load(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def busy(*_: Any) -> None:
        raise Unavailable("The database is busy.")

    monkeypatch.setitem(RESOURCES, Kind.SURVEY, replace(SURVEY, write=busy))
    result = load(write_jsonl(Definitions().all(), file), "--account", new_account())
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1:] == [
        "4 of 5 definitions were written. Load them again to continue.",
        "Error: The database is busy.",
    ]


def test_load_accepts_example_in_operator_guide(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "operating.md").read_text(encoding="utf-8")
    example = tmp_path / "example.yaml"
    example.write_text(guide.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    account = new_account()
    result = load(example, "--account", account)
    assert result.exit_code == 0
    assert "Warning" not in result.stderr
    assert result.stdout.endswith("1 contact form, 1 survey\n")


def test_definition_whose_account_differs_from_account_option_is_rejected(file: Path) -> None:
    account, other = new_account(), new_account()
    brand = {"kind": "brand", "id": new_id(), "name": "Brand"}
    write_jsonl([brand | {"account": other}], file)
    result = load(file, "--account", account)
    assert result.exit_code == 1
    assert f"/account: Differs from --account {account}. (not_allowed)" in result.stderr
    write_jsonl([brand | {"account": account.upper()}], file)
    assert load(file, "--account", account).exit_code == 0


def test_summary_lists_number_of_definitions_per_account(file: Path) -> None:
    first, second = new_account(), new_account()
    brands = [
        {"kind": "brand", "id": new_id(), "name": "Brand", "account": account}
        for account in (first, second, second)
    ]
    assert load(write_jsonl(brands, file)).stdout == (
        f"Loaded into account {first}: 1 brand\nLoaded into account {second}: 2 brands\n"
    )


def test_low_contrast_and_unusable_font_are_warnings(tmp_path: Path) -> None:
    brand, form = new_id(), new_id()
    style = {"textColor": "#dddddd", "font": {"url": "https://fonts.example.com/a.css"}}
    file = tmp_path / "forms.json"
    definitions = [
        {"kind": "brand", "id": brand, "name": "Brand"},
        {"kind": "contactForm", "id": form, "brandId": brand, "name": "Form", "language": "fr"}
        | {"generalStyle": style},
    ]
    file.write_text(json.dumps(definitions))
    for command in (("form", "check"), ("definition", "load", "--yes")):
        result = run(*command, file, "--account", new_account())
        assert result.exit_code == 0
        assert "/generalStyle/textColor: The contrast of #dddddd" in result.stderr
        assert "/generalStyle/font/url: Pages load only font files" in result.stderr


def test_keys_find_stored_resources_and_colour_error_shows_colour(tmp_path: Path) -> None:
    account = new_account()
    file, more = tmp_path / "places.yaml", tmp_path / "more.yaml"
    file.write_text(
        "- {kind: brand, key: lumen, name: Lumen}\n"
        "- {kind: store, key: lyon, brandId: lumen, name: Lyon}\n"
        "- {kind: survey, key: visit, name: Visit, language: fr, publiclyAvailable: true}\n"
    )
    assert load(file, "--account", account).exit_code == 0
    assert "Nothing to change" in run("definition", "load", file, "--account", account).stderr
    stored = {place.key: place for place in places.load_directory(account).places}
    assert stored["lyon"].brand_id == stored["lumen"].id
    more.write_text(
        "kind: workflow\nid: 0c9cf5d6-4a5c-4c8b-9a55-0c4c1f4f7a06\nname: W\n"
        "conditions: [{subject: survey, operator: $eq, value: visit}]\n"
        "actions: [{key: crm, url: https://hooks.example.com}]\n"
        "---\nkind: survey\nkey: visit\nname: Again\nlanguage: fr\npubliclyAvailable: true\n"
    )
    result = load(more, "--account", account)
    assert (result.exit_code, result.stdout) == (0, "Loaded: 1 survey, 1 workflow\n")
    file.write_text("{kind: brand, key: lumen, name: Lumen, color: red}")
    shown = load(file, "--account", account).stderr
    assert 'line 1, /color: Must be a hexadecimal colour in quotes, such as "#0b7285"' in shown


@pytest.mark.parametrize(
    ("field", "suggested"),
    [
        (
            "fields: [{key: a, type: TEXT, requird: true}]",
            "/fields/0/requird: Unknown field. Did you mean required?",
        ),
        ("translations: {fr: {header: {titel: A}}}", "Did you mean title?"),
        ("tranlsations: {}", "Did you mean translations?"),
        ("zzz: 1", "/zzz: Unknown field. (unknown_key)"),
    ],
)
def test_unknown_field_suggests_similar_one(field: str, suggested: str, tmp_path: Path) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text(f"kind: survey\nkey: visit\nname: V\nlanguage: en\n{field}\n")
    shown = run("definition", "load", "--dry-run", file, "--account", new_account()).stderr
    assert f"{file}, definition 1, line 5, " in shown
    assert suggested in shown
