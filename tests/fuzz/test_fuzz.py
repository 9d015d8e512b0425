"""Send random requests, messages and definitions to the service.

The tests check that no request raises an unhandled exception or exceeds its CPU limit, and that
customers and answers are stored unchanged. ``FUZZ_SECONDS`` sets the time budget; ``FUZZ_SEED``
repeats a run.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from hypothesis import strategies as st

from admin.services.definitions.check import check
from admin.services.definitions.definition import RawDefinition
from admin.services.definitions.files import read_files
from admin.services.definitions.kinds import RESOURCES
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.idempotency import origin_of
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import WHITE_SPACE
from chalicelib.log import logger
from chalicelib.storage import feedback
from tests.domain.forms.factories import field, select
from tests.fuzz.fuzzing import fuzz, json_values, objects, scalars, texts, within_cpu_limit
from tests.services.queues import FEEDBACK_QUEUE, IMPORT_QUEUE, WEBHOOK_QUEUE
from tests.web.partner_client import Partner
from tests.web.public.respondent import PublicClient, multipart
from tests.web.seeded_account import (
    CONTACT,
    SUBMIT_CONTACT,
    SUBMIT_SURVEY,
    SURVEY,
    SeededAccount,
    seed_account,
)

CLIENT = PublicClient()
GETS = ["purchase", "contact-form", "survey", "customer", "customer/batch"]
POSTS = ["contact-form/list", "survey/list", "customer/list", "customer", "customer/batch"]
CUSTOMER = {(f.alias or name): texts for name, f in CustomerBody.model_fields.items()} | {
    "metadata": st.dictionaries(texts, texts, max_size=60),
    "smsOptin": st.booleans(),
    "language": st.sampled_from(["fr", "no", "xx"]),
}
BODY = objects(
    CUSTOMER
    | {
        "limit": scalars,
        "page": scalars,
        "batch": st.lists(objects(CUSTOMER), max_size=5),
    }
)


@pytest.fixture(scope="module")
def account(client: Any) -> SeededAccount:
    seeded = seed_account()
    seeded.contact_form(
        fields=[
            field("text", "LONG_TEXT", id=seeded.fields["note"]),
            select("many", kind="MULTI_SELECT", id=seeded.fields["what"], allowCustomValue=True),
            field("number", "NUMBER", id=seeded.fields["nps"]),
        ]
    )
    return seeded


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    handler = logger.registered_handler
    handler.setLevel("CRITICAL")
    yield
    handler.setLevel("NOTSET")


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def trimmed(text: str) -> str:
    return text.strip(WHITE_SPACE)


def test_random_partner_requests_get_no_5xx_response(known: Partner) -> None:
    def check_request(request: tuple[str, str, Any, bytes]) -> None:
        path, query, body, raw = request
        sent = raw or encoded(body)
        response = within_cpu_limit(lambda: known.post(f"/partners/{path}{query}", sent))
        assert response.status in (201, 400, 413), response

    queries = st.sampled_from(["", "?partial=true", "?partial=x"])
    fuzz(check_request, st.tuples(st.sampled_from(POSTS), queries, BODY, st.binary(max_size=20)))


def test_random_query_parameters_get_no_5xx_response(
    known: Partner, account: SeededAccount
) -> None:
    ids = st.one_of(texts, st.sampled_from([account.survey_id, account.contact_form_id]))

    def check_request(request: tuple[str, str, str, str]) -> None:
        path, first, second, header = request
        query = f"?id={quote(first)}&survey={quote(first)}&store={quote(second)}"
        assert known.get(f"/partners/{path}{query}").status in (200, 400, 404)
        headers = {"accept-language": header, "if-none-match": header}
        for view in (CONTACT, SURVEY):
            response = CLIENT.get(f"{view}?id={first}&survey={first}&store={second}", headers)
            assert response.status in (200, 304, 400, 403, 404), response

    fuzz(check_request, st.tuples(st.sampled_from(GETS), ids, ids, texts))


def test_stored_customer_equals_sent_customer(known: Partner) -> None:
    def check_customer(body: dict[str, Any]) -> None:
        created = known.post("/partners/customer", encoded(body))
        assert created.status in (201, 400), created
        if created.status == 400:
            return
        stored = known.get(f"/partners/customer?id={created.json['id']}").json
        assert stored == created.json
        for name, value in body.items():
            if isinstance(value, str) and trimmed(value):
                assert stored[name] == trimmed(value)
        sent = {trimmed(k): trimmed(v) for k, v in body.get("metadata", {}).items()}
        returned = stored["metadata"].get("import", {})
        assert {k: v for k, v in sent.items() if v} == {k: v for k, v in returned.items() if v}

    free = ("firstName", "lastName", "description", "company", "phoneNumber", "displayName")
    fields: dict[str, Any] = {name: st.one_of(st.text(max_size=255), texts) for name in free}
    metadata = st.dictionaries(st.text(min_size=1, max_size=200), texts, max_size=5)
    fuzz(check_customer, st.fixed_dictionaries({}, optional=fields | {"metadata": metadata}))


def test_stored_answers_equal_submitted_answers(account: SeededAccount) -> None:
    long, many = account.fields["note"], account.fields["what"]

    def check_answers(submitted: tuple[str, list[str]]) -> None:
        text, values = submitted
        answers = [{"id": long, "values": [text]}, {"id": many, "values": values}]
        key = new_id()
        header = {"idempotency-key": key}
        response = CLIENT.submit_fields(SUBMIT_CONTACT, account.contact_form_id, answers, header)
        assert response.status == 204, response
        origin = origin_of(account.contact_form_id, "submit_contact_form", key, None)
        stored = feedback.find(origin.record_id)
        assert stored
        assert {answer.field_id: answer.values for answer in stored.feedback.answers} == {
            field_id: kept
            for field_id, kept in {
                long: [trimmed(text)] if trimmed(text) else [],
                many: [trimmed(value) for value in values if trimmed(value)],
            }.items()
            if kept
        }

    distinct = st.lists(texts, max_size=20, unique_by=trimmed)
    fuzz(check_answers, st.tuples(texts, distinct))


def test_random_submissions_get_no_server_error(account: SeededAccount) -> None:
    answer = objects(
        {
            "id": st.sampled_from([*account.fields.values(), new_id()]),
            "values": st.lists(texts, max_size=10),
        }
    )
    names = ["id", "fields", "fields[]", "fields[0][id]", "fields[1][values][]", "store", "x"]
    forms = st.sampled_from([account.contact_form_id, account.survey_id, account.private_survey_id])
    name = st.one_of(st.sampled_from(names), texts.filter(lambda text: "\ud800" not in text))

    def check_submission(submission: tuple[str, str, Any, list[tuple[str, str]], bytes]) -> None:
        path, form_id, fields, parts, raw = submission
        listed = [("id", form_id), ("fields", json.dumps(fields)), *parts]
        body = raw or multipart(listed)
        response = within_cpu_limit(lambda: CLIENT.submit(path, body))
        assert response.status in (201, 204, 400, 403, 404, 409, 413), response

    paths = st.sampled_from([SUBMIT_CONTACT, SUBMIT_SURVEY])
    parts = st.lists(st.tuples(name, texts), max_size=5)
    answers = st.one_of(st.lists(answer, max_size=8), json_values)
    fuzz(check_submission, st.tuples(paths, forms, answers, parts, st.binary(max_size=5)))


class EmptyAccounts:
    """Stub in which every account exists and has no resources."""

    def account(self, account_id: str) -> Account:
        return Account(account_id, "Any", datetime.now(UTC))

    def directory(self, account_id: str) -> Directory:
        return Directory.of([])

    def ids_by_key(self, account_id: str, kind: str) -> dict[str, str]:
        return {}

    def workflows(self, account_id: str) -> tuple[()]:
        return ()


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_random_messages_and_definitions_raise_no_exception(client: Any, tmp_path: Path) -> None:
    pointers = objects(
        dict.fromkeys(
            ["accountId", "feedbackId", "executionId", "importId", "edition", "number"], texts
        )
    )
    properties = {
        field.alias or name: texts
        for row in RESOURCES.values()
        for name, field in row.model.model_fields.items()
    }
    kinds = st.sampled_from([kind.value for kind in RESOURCES])
    definitions = objects(properties | {"kind": kinds, "id": st.builds(new_id)})
    suffixes = st.sampled_from([".yaml", ".json", ".jsonl", ".csv"])

    def check_input(generated: tuple[Any, str, Any, str, str]) -> None:
        pointer, message, definition, text, suffix = generated
        for queue in (IMPORT_QUEUE, FEEDBACK_QUEUE, WEBHOOK_QUEUE):
            within_cpu_limit(
                lambda queue=queue: queue.deliver([json.dumps(pointer), message], receive_count=3)
            )
        raw = [RawDefinition("file", definition)]
        within_cpu_limit(lambda: check(raw, new_id(), EmptyAccounts()))
        file = tmp_path / f"definitions{suffix}"
        file.write_text(text, encoding="utf-8", errors="replace")
        read, _ = within_cpu_limit(lambda: read_files([file]))
        check(read, new_id(), EmptyAccounts())
        dumped = tmp_path / "dumped.yaml"
        dumped.write_text(yaml.safe_dump(json.loads(json.dumps(definition))))
        within_cpu_limit(lambda: read_files([dumped]))

    fuzz(check_input, st.tuples(pointers, texts, definitions, texts, suffixes))
