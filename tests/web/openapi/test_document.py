"""The interface description: valid, complete, and the same as what the models do."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from chalicelib.domain.customers.platforms import IDENTIFIERS, METADATA_KEYS
from chalicelib.domain.language import LANGUAGE_CODES
from chalicelib.web.openapi.document import description
from tests.web.partner_client import ROOT, Partner

Json = dict[str, Any]

DOCUMENT = description()
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
PARTNER_OPERATIONS = {name: op for name, op in OPERATIONS.items() if "/partners/" in name}


def _validator(schema: Json, components: Json = DOCUMENT["components"]) -> Draft202012Validator:
    return Draft202012Validator(
        {**schema, "components": components}, format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def _resolved(node: Json) -> Json:
    return DOCUMENT["components"]["headers"][node["$ref"].rpartition("/")[2]]


def _examples(node: Any, place: str = "") -> Iterator[tuple[str, Json, Any]]:
    """Every example in the document that stands beside a schema, with that schema."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _examples(item, f"{place}/{index}")
    if not isinstance(node, dict):
        return
    if isinstance(node.get("schema"), dict):
        if "example" in node:
            yield place, node["schema"], node["example"]
        for name, example in node.get("examples", {}).items():
            yield f"{place}/{name}", node["schema"], example["value"]
    elif isinstance(node.get("examples"), list):
        for example in node["examples"]:
            yield place, node, example
    for key, value in node.items():
        if key not in ("example", "examples"):
            yield from _examples(value, f"{place}/{key}")


EXAMPLES = list(_examples(DOCUMENT))


def _closed() -> Json:
    """The components, with schemas that take no key which they do not name."""

    def closed(node: Any) -> Any:
        if isinstance(node, list):
            return [closed(item) for item in node]
        if not isinstance(node, dict):
            return node
        inside = {key: closed(value) for key, value in node.items()}
        if isinstance(node.get("properties"), dict) and isinstance(node.get("type"), str):
            inside.setdefault("additionalProperties", False)
        return inside

    return {"schemas": closed(SCHEMAS)}


def test_it_is_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["version"] == "1.0.0"
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_every_route_is_described_and_every_description_has_a_route() -> None:
    from app import app

    routed = {
        f"{method} {path}"
        for path, methods in app.routes.items()
        for method in methods
        if method != "OPTIONS"  # browsers ask it, and no one else
    }
    assert set(OPERATIONS) == routed


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(names)) == len(names)


def test_operations_belong_to_described_tags() -> None:
    used = {tag for operation in OPERATIONS.values() for tag in operation["tags"]}
    assert used == {tag["name"] for tag in DOCUMENT["tags"]}


@pytest.mark.parametrize(
    ("schema", "example"), [pytest.param(s, e, id=place) for place, s, e in EXAMPLES]
)
def test_every_example_fits_its_schema(schema: Json, example: Any) -> None:
    _validator(schema).validate(example)


@pytest.mark.parametrize("name", PARTNER_OPERATIONS)
def test_examples_of_answers_have_every_key_that_is_always_there_and_no_other(name: str) -> None:
    for answer in OPERATIONS[name]["responses"].values():
        for content in answer["content"].values():
            _validator(content["schema"], _closed()).validate(content["example"])


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_body_has_an_example(name: str) -> None:
    operation = OPERATIONS[name]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        assert content["examples"]
    for status, answer in operation["responses"].items():
        if "/partners/" in name or status >= "400":
            assert all("example" in content for content in answer["content"].values())


def test_partner_operations_want_both_headers_together() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert [list(requirement) for requirement in DOCUMENT["security"]] == [list(schemes)]
    assert {(s["type"], s["in"], s["name"]) for s in schemes.values()} == {
        ("apiKey", "header", "X-API-KEY"),
        ("apiKey", "header", "X-API-SECRET"),
    }
    for name, operation in OPERATIONS.items():
        assert operation.get("security") == (None if name in PARTNER_OPERATIONS else [])


@pytest.mark.parametrize("name", PARTNER_OPERATIONS)
def test_errors_are_problems_with_their_own_status(name: str) -> None:
    responses = OPERATIONS[name]["responses"]
    particular = {"413", "415"} if name.startswith("POST") else {"404"}
    errors = {status for status in responses if status >= "400"}
    assert errors >= {"400", "401", "429", "503"} | particular
    for status in errors:
        (content,) = responses[status]["content"].items()
        assert content[0] == "application/problem+json"
        assert content[1]["schema"] == {"$ref": "#/components/schemas/Problem"}
        assert content[1]["example"]["status"] == int(status)
        assert ("Retry-After" in responses[status]["headers"]) == (status in ("429", "503"))


@pytest.mark.parametrize("name", PARTNER_OPERATIONS)
def test_good_answers_have_the_status_of_the_interface_and_are_kept_by_nobody(name: str) -> None:
    responses = OPERATIONS[name]["responses"]
    (good,) = (status for status in responses if status < "400")
    assert good == ("201" if name.startswith("POST") else "200")
    assert _resolved(responses[good]["headers"]["Cache-Control"])["example"] == "no-store"


def test_ids_are_required_uuids() -> None:
    for name, operation in PARTNER_OPERATIONS.items():
        if name.startswith("GET"):
            (parameter,) = operation["parameters"]
            assert parameter["name"] == "id"
            assert parameter["required"]
            assert parameter["schema"]["format"] == "uuid"


def test_lists_say_their_limits_and_defaults_and_need_no_body() -> None:
    page = SCHEMAS["PageRequest"]
    limit, number = page["properties"]["limit"], page["properties"]["page"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 100, 10)
    assert (number["minimum"], number["maximum"], number["default"]) == (1, 2**53 - 1, 1)
    assert "required" not in page
    assert page["additionalProperties"] is False
    lists = [op for name, op in PARTNER_OPERATIONS.items() if name.endswith("/list")]
    assert lists
    assert not any(operation["requestBody"]["required"] for operation in lists)


def test_a_customer_has_every_identifier_source_and_metadata_key() -> None:
    customer = SCHEMAS["Customer"]
    assert len(IDENTIFIERS) == 13
    for identifier in IDENTIFIERS:
        assert customer["properties"][identifier]["type"] == ["string", "null"]
    assert len(SCHEMAS["DataSource"]["enum"]) == 32
    assert len(METADATA_KEYS) == 24
    assert set(customer["properties"]["metadata"]["properties"]) == set(METADATA_KEYS)
    assert SCHEMAS["Language"]["enum"] == list(LANGUAGE_CODES)


def test_a_customer_always_has_every_key_but_its_language() -> None:
    customer = SCHEMAS["Customer"]
    assert set(customer["properties"]) - set(customer["required"]) == {"language"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_and_every_key_has_words(name: str) -> None:
    schema = SCHEMAS[name]
    assert schema["description"].endswith(".")
    assert "Attributes:" not in schema["description"]
    assert "section" not in schema["description"]
    for key, value in schema.get("properties", {}).items():
        words = value.get("description") or SCHEMAS[value["$ref"].rpartition("/")[2]]["description"]
        assert words, key


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_have_no_titles_made_from_names(name: str) -> None:
    properties = SCHEMAS[name].get("properties", {})
    assert "title" not in SCHEMAS[name]
    assert not any("title" in value for value in properties.values())


def test_it_is_read_without_credentials(respondent: Partner) -> None:
    answer = respondent.get("/openapi.json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.json == DOCUMENT


def test_who_has_it_already_is_told_so(respondent: Partner) -> None:
    tag = respondent.get("/openapi.json").headers["etag"]
    for condition in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        answer = respondent.get("/openapi.json", {"If-None-Match": condition})
        assert (answer.status, answer.body, answer.headers["etag"]) == (304, "", tag)
    assert respondent.get("/openapi.json", {"If-None-Match": '"other"'}).status == 200


def test_the_app_starts_without_what_makes_it() -> None:
    program = (
        "import app, sys;"
        "print(sorted(m for m in sys.modules if m == 'jinja2' or 'web.openapi' in m))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(ROOT), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['chalicelib.web.openapi', 'chalicelib.web.openapi.routes']"
