"""Test that the OpenAPI document is valid, complete and consistent with the models."""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic.alias_generators import to_camel

import chalicelib
from chalicelib.domain.customers.platforms import IDENTIFIERS, METADATA_KEYS
from chalicelib.domain.errors import FeedbackError
from chalicelib.domain.feedback.submission import MAX_SUBMISSION_BYTES
from chalicelib.domain.idempotency import MAX_KEY
from chalicelib.domain.language import LANGUAGE_CODES
from chalicelib.domain.paging import DEFAULT_LIMIT, MAX_LIMIT
from chalicelib.domain.parsing import (
    MAX_BODY_BYTES,
    MAX_CUSTOMER_BYTES,
    MAX_PURCHASE_BYTES,
    MAX_ROWS,
)
from chalicelib.web import problems
from chalicelib.web.openapi.operation import OPERATIONS as DECLARED
from chalicelib.web.openapi.routes import DOCUMENT as FILE
from chalicelib.web.public.submission_body import HONEYPOT
from infrastructure.deployment.gateway_responses import RESPONSES
from infrastructure.openapi import limits
from infrastructure.openapi.codes import INPUT_CODES, PROBLEM_CODES
from tests.web.partner_client import ROOT, Partner

Json = dict[str, Any]

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
UUID_TEXT = "7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e11"
PARTNER_OPERATIONS = {name: op for name, op in OPERATIONS.items() if "/partners/" in name}


def _validator(components: Json) -> Draft202012Validator:
    """Return a validator. For each schema, use ``evolve(schema=…)``, which keeps the references."""
    return Draft202012Validator(
        {"components": components}, format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def _resolved(node: Json) -> Json:
    return DOCUMENT["components"]["headers"][node["$ref"].rpartition("/")[2]]


def _examples(node: Any, place: str = "") -> Iterator[tuple[str, Json, Any]]:
    """Yield every example in the document together with its schema."""
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


def _closed() -> Json:
    """Return a copy of the document's components in which every schema rejects unknown fields."""

    def closed(node: Any) -> Any:
        if isinstance(node, list):
            return [closed(item) for item in node]
        if not isinstance(node, dict):
            return node
        closed_node = {key: closed(value) for key, value in node.items()}
        if isinstance(node.get("properties"), dict) and isinstance(node.get("type"), str):
            closed_node.setdefault("additionalProperties", False)
        return closed_node

    return {"schemas": closed(SCHEMAS)}


def test_openapi_document_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["version"] == "1.0.0"
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_every_route_declares_operation() -> None:
    from app import app

    for path, methods in app.routes.items():
        for method, route in methods.items():
            if method not in ("HEAD", "OPTIONS"):
                view = inspect.unwrap(route.view_function)
                assert view in DECLARED
                assert OPERATIONS[f"{method} {path}"]["operationId"] == to_camel(view.__name__)


def test_openapi_paths_equal_routes_of_app() -> None:
    from app import app

    routed = {
        f"{method} {path}"
        for path, methods in app.routes.items()
        for method in methods
        # Only browsers send preflight requests. The description of the document mentions HEAD.
        if method not in ("HEAD", "OPTIONS")
    }
    assert set(OPERATIONS) == routed


def test_operation_ids_are_unique() -> None:
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(names)) == len(names)


def test_operation_tags_have_descriptions() -> None:
    used = {tag for operation in OPERATIONS.values() for tag in operation["tags"]}
    assert used == {tag["name"] for tag in DOCUMENT["tags"]}


def test_every_example_validates_against_its_schema() -> None:
    validator = _validator(DOCUMENT["components"])
    invalid = {
        place: error.message
        for place, schema, example in _examples(DOCUMENT)
        for error in validator.evolve(schema=schema).iter_errors(example)
    }
    assert invalid == {}
    assert len(list(_examples(DOCUMENT))) > 500


def test_response_examples_have_required_fields_and_no_unknown_fields() -> None:
    validator = _validator(_closed())
    for operation in PARTNER_OPERATIONS.values():
        for response in operation["responses"].values():
            for content in response["content"].values():
                validator.evolve(schema=content["schema"]).validate(content["example"])


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_request_and_response_body_has_example(name: str) -> None:
    operation = OPERATIONS[name]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        assert content["examples"]
    for status, response in operation["responses"].items():
        if "/partners/" in name or status >= "400":
            assert all("example" in content for content in response["content"].values())


def _properties() -> Iterator[tuple[str, Json]]:
    """Yield the place and the schema of each property of each component."""
    for name, schema in SCHEMAS.items():
        for field, described in schema.get("properties", {}).items():
            yield f"{name}.{field}", described


def _without_null(described: Json) -> Json:
    choices = described.get("anyOf", [described])
    return next(choice for choice in choices if choice != {"type": "null"})


def test_ids_have_format_uuid() -> None:
    external = {"externalId", "requestId", "erasureId", *IDENTIFIERS}
    ids = {
        place: described
        for place, described in _properties()
        if re.search(r"(^id|Id|^ids|Ids)$", name := place.split(".")[1]) and name not in external
    }
    assert len(ids) > 60
    for place, described in ids.items():
        described = _without_null(described)
        described = described.get("items", described)
        assert described.get("format") == "uuid", place


def test_sources_have_enum() -> None:
    sources = [described for place, described in _properties() if place.endswith(".source")]
    assert len(sources) > 4
    for described in sources:
        assert _without_null(described)["$ref"] == "#/components/schemas/DataSource"


def test_arrays_have_maximum_number_of_items() -> None:
    unlimited = {
        place
        for place, described in _properties()
        if "array" in _without_null(described).get("type", ()) and "maxItems" not in described
    }
    assert unlimited == limits.UNLIMITED
    assert SCHEMAS["StatisticsRequest"]["properties"]["groupBy"]["uniqueItems"]


def _inputs() -> Iterator[tuple[str, Json]]:
    """Yield each schema of what a client sends, with its place."""

    def parts(schema: Json, place: str) -> Iterator[tuple[str, Json]]:
        if "$ref" in schema:
            place = schema["$ref"].rpartition("/")[2]
            if place in seen:
                return
            seen.add(place)
            schema = SCHEMAS[place]
        yield place, schema
        for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from parts(choice, place)
        for name, described in schema.get("properties", {}).items():
            yield from parts(described, f"{place}.{name}")
        for name in {"items", "additionalProperties"} & schema.keys():
            if isinstance(schema[name], dict):
                yield from parts(schema[name], f"{place}[]")

    seen: set[str] = set()
    for operation_name, operation in OPERATIONS.items():
        contents = operation.get("requestBody", {}).get("content", {})
        for part in (*operation["parameters"], *contents.values()):
            yield from parts(part["schema"], f"{operation_name} {part.get('name', '')}")


LIMITS = {
    "array": [{"maxItems"}],
    "integer": [{"minimum", "maximum"}],
    "number": [{"minimum", "maximum"}],
    "string": [{"maxLength"}, {"enum"}, {"const"}, {"format"}, {"pattern"}],
}
"""The keywords that limit what a client sends, by type. One set of them is enough."""


def test_arrays_strings_and_numbers_of_requests_have_limits() -> None:
    inputs = dict(_inputs())
    assert len(inputs) > 200
    unlimited = {
        place
        for place, described in inputs.items()
        for kind, limits in LIMITS.items()
        if kind in _kinds(described) and not any(names <= described.keys() for names in limits)
    }
    assert unlimited == set()
    honeypots = [inputs[f"{form}Submission.homepage"] for form in ("ContactForm", "Survey")]
    assert {described["maxLength"] for described in honeypots} == {MAX_SUBMISSION_BYTES}


def _kinds(schema: Json) -> list[str]:
    declared = schema.get("type", [])
    return [declared] if isinstance(declared, str) else list(declared)


def test_document_has_a_licence_and_each_operation_has_one_tag() -> None:
    assert DOCUMENT["info"]["license"]["name"]
    assert {len(operation["tags"]) for operation in OPERATIONS.values()} == {1}


def test_cursors_are_not_empty() -> None:
    cursors = [described for place, described in _properties() if place.endswith(".cursor")]
    assert len(cursors) > 4
    assert {described["minLength"] for described in cursors} == {1}


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("PurchaseReference", {"id": UUID_TEXT}, {"id": UUID_TEXT, "externalId": "1"}),
        ("PurchaseReference", {"source": "Site", "externalId": "1"}, {"source": "Site"}),
        ("OptOut", {"email": "a@example.com", "channels": ["EMAIL"]}, {"channels": ["EMAIL"]}),
        ("OptOut", {"phoneNumber": "1"}, {"phoneNumber": "1", "email": "a@example.com"}),
        ("DeliveryReplayRequest", {"ids": [UUID_TEXT]}, {"ids": [UUID_TEXT], "state": "FAILED"}),
        (
            "DeliveryReplayRequest",
            {"state": "FAILED", "createdSince": "2026-11-20T10:00:00Z", "limit": 1},
            {"state": "FAILED"},
        ),
    ],
)
def test_body_has_either_some_fields_or_others(name: str, valid: Json, invalid: Json) -> None:
    validator = _validator(DOCUMENT["components"]).evolve(schema=SCHEMAS[name])
    assert validator.is_valid(valid)
    assert not validator.is_valid(invalid)


def test_every_response_has_request_id_and_500_is_documented() -> None:
    for operation in OPERATIONS.values():
        assert operation["responses"]["500"]
        for response in operation["responses"].values():
            assert response["headers"]["X-Request-Id"]


def test_webhook_is_tagged_reference() -> None:
    # Clients that openapi-generator makes of a webhook that is not a reference do not compile.
    assert DOCUMENT["webhooks"]["workflowAction"].keys() == {"$ref"}
    (item,) = DOCUMENT["components"]["pathItems"].values()
    assert item["post"]["tags"] == ["Webhooks"]


def test_partner_operations_require_both_headers() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert [list(requirement) for requirement in DOCUMENT["security"]] == [list(schemes)]
    assert {(s["type"], s["in"], s["name"]) for s in schemes.values()} == {
        ("apiKey", "header", "X-API-KEY"),
        ("apiKey", "header", "X-API-SECRET"),
    }
    for name, operation in OPERATIONS.items():
        assert operation.get("security") == (None if name in PARTNER_OPERATIONS else [])


@pytest.mark.parametrize("name", PARTNER_OPERATIONS)
def test_error_response_is_problem_details_with_its_status(name: str) -> None:
    responses = OPERATIONS[name]["responses"]
    specific_errors = {"400", "413", "415"} if name.startswith("POST") else set()
    if name.startswith("GET") and OPERATIONS[name]["parameters"]:
        specific_errors = {"400", "404"}
    errors = {status for status in responses if status >= "400"}
    assert errors >= {"401", "429", "503"} | specific_errors
    for status in errors:
        (content,) = responses[status]["content"].items()
        assert content[0] == "application/problem+json"
        assert content[1]["schema"] == {"$ref": "#/components/schemas/Problem"}
        assert content[1]["example"]["status"] == int(status)
        assert ("Retry-After" in responses[status]["headers"]) == (status in ("429", "503"))


@pytest.mark.parametrize("name", PARTNER_OPERATIONS)
def test_success_response_has_contract_status_and_is_not_cached(name: str) -> None:
    responses = OPERATIONS[name]["responses"]
    (good,) = (status for status in responses if status < "400")
    assert good == ("201" if name.startswith("POST") else "200")
    assert _resolved(responses[good]["headers"]["Cache-Control"])["example"] == "no-store"


def test_id_parameter_is_required_uuid() -> None:
    for name, operation in PARTNER_OPERATIONS.items():
        for parameter in operation["parameters"] if name.startswith("GET") else ():
            assert parameter["name"] in ("id", "purchase")
            assert parameter["required"]
            assert parameter["schema"]["format"] == "uuid"


def test_list_operations_document_limits_and_require_no_body() -> None:
    page = SCHEMAS["PageRequest"]
    limit, number = page["properties"]["limit"], page["properties"]["page"]
    assert (limit["minimum"], limit["maximum"]) == (1, 100)
    assert (number["minimum"], number["maximum"]) == (1, 2**53 - 1)
    assert "required" not in page
    assert page["additionalProperties"] is False
    lists = [op for name, op in PARTNER_OPERATIONS.items() if name.endswith("/list")]
    assert lists
    assert not any(operation["requestBody"]["required"] for operation in lists)


def test_limits_of_account_state_their_values_as_defaults() -> None:
    limits = SCHEMAS["PartnerLimits"]
    defaults = {name: described["default"] for name, described in limits["properties"].items()}
    assert defaults == {
        "requestBytes": MAX_BODY_BYTES,
        "listItems": MAX_LIMIT,
        "customerBytes": MAX_CUSTOMER_BYTES,
        "customerBatchRows": MAX_ROWS,
        "purchaseBytes": MAX_PURCHASE_BYTES,
    }
    assert limits["required"] == [*limits["properties"]]


def test_request_property_with_default_is_optional_in_generated_clients() -> None:
    for name, schema in SCHEMAS.items():
        for key in schema.get("properties", {}).keys() - set(schema.get("required", ())):
            assert "default" not in schema["properties"][key], f"{name}.{key}"


@pytest.mark.parametrize("name", ["ContactFormSubmission", "SurveySubmission"])
def test_generated_client_sends_answers_as_json_and_other_parts_as_text(name: str) -> None:
    properties = SCHEMAS[name]["properties"]
    encoded = {"fields", "labels"}
    assert {properties[part]["type"] for part in properties.keys() - encoded} == {"string"}
    path = "/public/survey/submit" if name.startswith("Survey") else "/public/contact-form/submit"
    content = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]
    assert content["encoding"] == {part: {"contentType": "application/json"} for part in encoded}


def subclasses(kind: type[FeedbackError]) -> set[type[FeedbackError]]:
    direct = set(kind.__subclasses__())
    return direct.union(*map(subclasses, direct))


POSITIONS_OF_CODES = {
    "AnswerError": 0,
    "AnswerFormat": 2,
    "InputError": 1,
    "PydanticCustomError": 0,
    "must": 1,
}


def test_every_error_code_in_source_has_meaning() -> None:
    raised = set()
    for path in Path(chalicelib.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                position = POSITIONS_OF_CODES.get(node.func.id)
                if position is not None and len(node.args) > position:
                    code = node.args[position]
                    raised |= {code.value} if isinstance(code, ast.Constant) else set()
    assert len(raised) > 10
    in_definitions = {"too_deep", "invalid_colour"}
    assert raised - in_definitions <= INPUT_CODES.keys()
    assert set(SCHEMAS["Problem"]["properties"]["code"]["enum"]) == PROBLEM_CODES.keys()
    assert {problems.code_of(status) for status, _ in RESPONSES.values()} <= PROBLEM_CODES.keys()
    deployed = (kind for kind in subclasses(FeedbackError) if kind.__module__.startswith("chalice"))
    assert {kind.code for kind in deployed} <= PROBLEM_CODES.keys()


def test_error_code_has_one_meaning() -> None:
    for code in PROBLEM_CODES.keys() & INPUT_CODES.keys():
        assert PROBLEM_CODES[code] == INPUT_CODES[code], code


def test_customer_schema_has_every_identifier_and_metadata_field() -> None:
    customer = SCHEMAS["PartnerCustomer"]
    assert len(IDENTIFIERS) == 13
    for identifier in IDENTIFIERS:
        assert customer["properties"][identifier]["type"] == ["string", "null"]
    assert len(SCHEMAS["DataSource"]["enum"]) == 32
    assert len(METADATA_KEYS) == 24
    assert set(customer["properties"]["metadata"]["properties"]) == set(METADATA_KEYS)
    assert SCHEMAS["Language"]["enum"] == list(LANGUAGE_CODES)


def test_customer_schema_requires_every_field_except_language() -> None:
    customer = SCHEMAS["PartnerCustomer"]
    assert set(customer["properties"]) - set(customer["required"]) == {"language"}


def test_schemas_and_their_properties_have_descriptions() -> None:
    for name, schema in SCHEMAS.items():
        assert schema["description"].endswith("."), name
        assert "Attributes:" not in schema["description"], name
        assert "section" not in schema["description"], name
        for key, value in schema.get("properties", {}).items():
            referenced = SCHEMAS.get(value.get("$ref", "").rpartition("/")[2], {})
            assert value.get("description") or referenced.get("description"), f"{name}.{key}"


def test_schemas_have_no_generated_titles() -> None:
    for name, schema in SCHEMAS.items():
        assert "title" not in schema, name
        for key, value in schema.get("properties", {}).items():
            assert "title" not in value, f"{name}.{key}"


def test_openapi_document_requires_no_credentials(respondent: Partner) -> None:
    response = respondent.get("/openapi.json")
    assert (response.status, response.headers["content-type"]) == (200, "application/json")
    assert response.headers["cache-control"] == "public, max-age=300"
    assert response.json == DOCUMENT


def test_request_with_current_etag_of_openapi_document_returns_304(respondent: Partner) -> None:
    tag = respondent.get("/openapi.json").headers["etag"]
    for condition in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        response = respondent.get("/openapi.json", {"If-None-Match": condition})
        assert (response.status, response.body, response.headers["etag"]) == (304, "", tag)
    assert respondent.get("/openapi.json", {"If-None-Match": '"other"'}).status == 200


def test_app_imports_neither_jinja_nor_openapi_generator() -> None:
    program = (
        "import app, sys;print(sorted(m for m in sys.modules if m == 'jinja2' or 'openapi' in m))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(ROOT), capture_output=True, text=True, check=True
    )
    shipped = ["chalicelib.web.openapi"]
    shipped += [f"chalicelib.web.openapi.{module}" for module in ("operation", "routes")]
    assert result.stdout.strip() == str(shipped)


def test_schemas_have_contract_names() -> None:
    assert {name for name in SCHEMAS if name.startswith("Partner")} >= {
        "PartnerPurchase",
        "PartnerCustomer",
        "PartnerContactForm",
        "PartnerSurvey",
    }
    assert not {"Customer", "Purchase"} & set(SCHEMAS)


@pytest.mark.parametrize("name", ["ContactFormSubmission", "SurveySubmission"])
def test_submission_schema_documents_honeypot_field(name: str) -> None:
    assert "discarded" in SCHEMAS[name]["properties"][HONEYPOT]["description"]
    assert HONEYPOT not in SCHEMAS[name].get("required", ())


CREATES_WITHOUT_OTHER_KEY = (
    "createCustomer",
    "importCustomers",
    "submitContactForm",
    "submitSurvey",
    "testWebhook",
)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name.startswith("POST")])
def test_503_description_of_create_states_that_request_may_be_processed(
    name: str,
) -> None:
    operation = OPERATIONS[name]
    creates = any(parameter["name"] == "Idempotency-Key" for parameter in operation["parameters"])
    description = operation["responses"]["503"]["description"]
    assert ("may have been processed" in description) == creates
    # All other operations have no further effect when they are repeated.
    assert creates == (operation["operationId"] in CREATES_WITHOUT_OTHER_KEY)


def test_openapi_descriptions_contain_limits_defined_in_code() -> None:
    create = OPERATIONS["POST /partners/customer"]
    batch = OPERATIONS["POST /partners/customer/batch"]["requestBody"]["description"]
    submit = OPERATIONS["POST /public/survey/submit"]["requestBody"]["description"]
    page = OPERATIONS["POST /partners/customer/list"]["requestBody"]["description"]
    assert f"limited to {MAX_CUSTOMER_BYTES // 1024} KB" in create["description"]
    assert f"1 to {MAX_KEY} " in create["parameters"][0]["description"]
    assert batch == f"1 to {MAX_ROWS:,} rows, at most {MAX_BODY_BYTES // 1024**2} MB."
    assert f"at most {MAX_SUBMISSION_BYTES // 1024} KB" in submit
    assert f"the first {DEFAULT_LIMIT} records" in page


def test_description_of_403_lists_causes() -> None:
    described = {
        (path.split("/")[1], response["description"])
        for path, methods in DOCUMENT["paths"].items()
        for operation in methods.values()
        for status, response in operation["responses"].items()
        if status == "403"
    }
    assert {(place, *re.findall("`([a-z_]+)`", text)) for place, text in described} == {
        ("partners", "missing_permission", "forbidden"),
        ("public", "tracker_required", "forbidden"),
    }


def test_schema_names_contain_no_module_names() -> None:
    assert [name for name in DOCUMENT["components"]["schemas"] if "__" in name] == []
