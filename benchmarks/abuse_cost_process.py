"""Measure the most expensive known valid and rejected requests; print the measurements as JSON.

This module runs as a separate program, because it replaces botocore's HTTP session:
``python -m benchmarks.abuse_cost_process``.
"""

import base64
import gc
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.httpsession import URLLib3Session
from moto import mock_aws

from app import app
from benchmarks import sample_account
from benchmarks.gateway_event import gateway_event
from benchmarks.lambda_context import LambdaContext
from benchmarks.processes import PROJECT
from benchmarks.public_cost_process import BOUNDARY, prepared_response
from benchmarks.recording import record
from benchmarks.replay import Replay
from benchmarks.sample_account_id import ACCOUNT_ID
from chalicelib.log import logger
from chalicelib.outbound.queues import forget_client
from chalicelib.services import caching
from chalicelib.services.forms.cached_forms import get_contact_form, get_survey
from chalicelib.services.forms.save import save_contact_form, save_survey
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.web.json_body import MAX_CONTAINERS

ROUNDS: Final = 3
_BATCH_BYTES: Final = 4 * 1024 * 1024
_SUBMISSION_BYTES: Final = 256 * 1024
_ANSWERS: Final = 10
_CREATE: Final = "/partners/customer"
_BATCH: Final = "/partners/customer/batch"
_LIST: Final = "/partners/customer/list"

Event = dict[str, Any]
Case = tuple[str, str, Event]
"""A request to measure: its endpoint, its name and its Lambda event."""


def main() -> None:
    """Measure every request in child processes and print the results as one JSON array."""
    os.environ["SUBMISSIONS"] = "1000000000"
    settings.cache_clear()
    logger.setLevel("CRITICAL")
    started = time.monotonic()
    caching.wall_clock_s = lambda: started  # cached values never expire
    replay = Replay()
    with mock_aws():
        boto3.client("cloudformation").create_stack(
            StackName="data",
            TemplateBody=(PROJECT / "infrastructure" / "data.yaml").read_text(),
            Parameters=[{"ParameterKey": "Stage", "ParameterValue": os.environ["STAGE"]}],
        )
        sample = sample_account.load()
        forms = _save_forms(sample)
        headers = {"X-API-KEY": sample.api_key, "X-API-SECRET": sample.api_secret}
        page = gateway_event("POST", _LIST, headers=headers, body={"limit": 100})
        replay.select(record("page", page))
        for form in (get_contact_form(sample.contact_form_id), get_survey(sample.survey_id)):
            assert form.questionnaire
            assert form.directory  # cached
        forget_connection()
        forget_client()

    def respond(session: Any, request: AWSPreparedRequest) -> AWSResponse:
        try:
            return replay.response(request)
        except LookupError:
            return prepared_response(session, request)

    setattr(URLLib3Session, "send", respond)  # noqa: B010 - replaces a method
    for event in [page, *_small_requests(headers, forms)]:  # import all modules
        response = app(event, LambdaContext())
        assert response["statusCode"] < 300, response

    def cases() -> Iterator[Case]:
        yield _LIST, "valid: 100 customers", page
        yield from _partner_cases(headers)
        for path, form_id in forms.items():
            yield from _submission_cases(path, form_id)

    gc.collect()
    gc.freeze()  # exclude existing objects from garbage collection in the child processes
    # Build the bodies in another process: building them leaves unused memory in the process, and a
    # measured request could use this memory without increasing the memory of the process.
    with tempfile.TemporaryFile("w+") as file:
        if not os.fork():
            file.writelines(json.dumps(case) + "\n" for case in cases())
            file.flush()
            os._exit(0)
        os.wait()
        file.seek(0)
        print(json.dumps([_measure(*json.loads(line)) for line in file]))


def _measure(endpoint: str, name: str, event: Event) -> dict[str, Any]:
    costs = [_cost(event) for _ in range(ROUNDS)]
    cheapest = {key: min(cost[key] for cost in costs) for key in costs[0]}
    return {"endpoint": endpoint, "name": name} | cheapest


def _cost(event: Event) -> dict[str, float]:
    """Handle one request in a forked child process and return its cost.

    The child process starts with the memory of this process, so the measured memory is only the
    additional memory of the request.
    """
    reading, writing = os.pipe()
    process_id = os.fork()
    if not process_id:
        before = resource.getrusage(resource.RUSAGE_SELF)
        response = app(event, LambdaContext())
        json.dumps(response)  # as the Lambda runtime does
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cost = {
            "status": response["statusCode"],
            "cpu_ms": cpu_s * 1000,
            "peak_mb": (after.ru_maxrss - before.ru_maxrss) / 1024,
        }
        os.write(writing, json.dumps(cost).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        measured: dict[str, float] = json.loads(pipe.read())
    os.waitpid(process_id, 0)
    return measured


def _save_forms(sample: sample_account.SampleAccount) -> dict[str, str]:
    """Save a contact form and a survey whose fields accept many values.

    Return a dict from the path of each submit endpoint to the id of its form.
    """
    fields = [
        {
            "id": _field_id(number),
            "key": f"many-{number}",
            "type": "MULTI_SELECT",
            "label": "Any",
            "values": [f"Option {value}" for value in range(100)],
            "allowCustomValue": True,
        }
        for number in range(_ANSWERS)
    ]
    form = {"name": "Measured", "language": "en", "enabled": True, "fields": fields}
    account_id = ACCOUNT_ID
    save_contact_form(account_id, form | {"id": sample.contact_form_id, "brandId": sample.brand_id})
    save_survey(account_id, form | {"id": sample.survey_id, "publiclyAvailable": True})
    return {
        "/public/contact-form/submit": sample.contact_form_id,
        "/public/survey/submit": sample.survey_id,
    }


def _field_id(number: int) -> str:
    return f"f0000000-0000-4000-8000-{number:012}"


def _small_requests(headers: dict[str, str], forms: dict[str, str]) -> Iterator[Event]:
    row = {"firstName": "Zoé", "email": "zoe@example.com"}
    yield gateway_event("POST", _CREATE, headers=headers, body=row)
    yield gateway_event("POST", _BATCH, headers=headers, body={"batch": [row]})
    for path, form_id in forms.items():
        yield _submission(path, form_id, ("fields", "[]"))


def _submission(path: str, form_id: str, *parts: tuple[str, str]) -> Event:
    content_type = f"multipart/form-data; boundary={BOUNDARY}"
    event = gateway_event("POST", path, headers={"content-type": content_type})
    body = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in (("id", form_id), *parts)
    )
    encoded = base64.b64encode(f"{body}--{BOUNDARY}--\r\n".encode()).decode()
    return event | {"body": encoded, "isBase64Encoded": True}


def _partner_cases(headers: dict[str, str]) -> Iterator[Case]:
    def case(path: str, name: str, body: str, **query: str) -> Case:
        event = gateway_event("POST", path, headers=headers, query=query or None, body={})
        return path, name, event | {"body": body}

    many, few = _BATCH_BYTES, 500_000
    metadata = {f"{n:02}": "v" * 500 for n in range(50)}
    yield case(_CREATE, "valid: 26 KB", json.dumps({"firstName": "Zoé", "metadata": metadata}))
    for path, smallest in ((_CREATE, '{"firstName":"Zoé"}'), (_LIST, "{}")):
        yield case(path, "valid: 4 MB of white space", smallest + " " * (many - 100))
        yield case(path, "4 MB of unknown fields", _filled("{", _property, "}", many))
        yield case(path, "500 KB of unknown fields", _filled("{", _property, "}", few))
        yield case(path, "4 MB of arrays", _filled('{"a":[', lambda _: "[]", "]}", many))
    yield case(
        _CREATE,
        "500 KB of invalid metadata",
        _filled('{"metadata":{', lambda n: f'"{n}":1', "}}", few),
    )
    full = json.dumps({"firstName": "Zoé", "lastName": "Martin", "metadata": {"a": "v" * 320}})
    for name, row in (
        ("valid: 4 MB", lambda n: f'{{"email":"customer-{n}@example.com",{full[1:]}'),
        ("valid: small values", lambda n: f'{{"metadata":{{{_properties(36, text=True)}}}}}'),
        (
            "valid: different names in each row",
            lambda n: f'{{"metadata":{{{_properties(50, first=50 * n, text=True)}}}}}',
        ),
        ("wrong types", lambda n: str(n)),
        ("unknown fields in each row", lambda n: f"{{{_properties(40)}}}"),
        ("invalid values in each row", lambda n: f'{{"email":1,"metadata":{{{_properties(39)}}}}}'),
    ):
        yield case(_BATCH, name, _filled('{"batch":[', row, "]}", many, 10_000))
    for name, row in (
        ("partial: wrong types", lambda n: str(n)),
        ("partial: unknown fields in each row", lambda n: f"{{{_properties(40)}}}"),
        ("partial: invalid values in each row", lambda n: f'{{"metadata":{{{_properties(39)}}}}}'),
    ):
        yield case(_BATCH, name, _filled('{"batch":[', row, "]}", many, 10_000), partial="true")
    yield case(_BATCH, "one row of unknown fields", _filled('{"batch":[{', _property, "}]}", many))
    yield case(_BATCH, "too many rows", _filled('{"batch":[', lambda _: "{}", "]}", many))
    for name, item, count in (
        ("most allowed arrays", lambda n: f"[{n}]", MAX_CONTAINERS - 10),
        ("most allowed objects", lambda n: f'{{"{n:x}":1}}', MAX_CONTAINERS - 10),
        ("4 MB of strings", lambda n: f'"{n:x}"', None),
        ("4 MB of numbers", lambda n: f"{n}.5", None),
        ("4 MB of arrays", lambda _: "[]", None),
    ):
        yield case(_BATCH, name, _filled('{"batch":[[', item, "]]}", many, count))
    arrays, quotes = "[]," * MAX_CONTAINERS, '\\"[' * 1_000_000
    yield case(_BATCH, "3 MB of quotes in an unterminated string", f'{{"batch":[{arrays}"{quotes}')


def _submission_cases(path: str, form_id: str) -> Iterator[Case]:
    def case(name: str, *parts: tuple[str, str]) -> Case:
        return path, name, _submission(path, form_id, *parts)

    def fields(answer: Callable[[int], str], count: int | None = None) -> tuple[str, str]:
        return "fields", _filled("[", answer, "]", _SUBMISSION_BYTES - 1_000, count)

    def answer(number: int, value: Callable[[int], str], count: int = 1_000) -> str:
        values = ",".join(value(n) for n in range(count))
        return f'{{"id":"{_field_id(number)}","values":[{values}]}}'

    yield case(
        "valid: 10,000 values",
        fields(lambda n: answer(n, lambda v: f'"{n}-{v:04} custom value"'), _ANSWERS),
    )
    yield case("duplicate values", fields(lambda n: answer(n, lambda _: '"x"'), _ANSWERS))
    yield case("values of wrong type", fields(lambda n: answer(n, lambda _: "1"), _ANSWERS))
    yield case("lone surrogates", fields(lambda n: answer(n, lambda _: r'"\ud800"'), _ANSWERS))
    yield case("130,000 values", fields(lambda n: answer(n, lambda _: "1")))
    yield case("unknown fields", fields(lambda n: f"{{{_properties(1_000)}}}"))
    yield case("9,000 unknown fields", fields(lambda n: f"{{{_properties(900)}}}", 10))
    lines = f"x--{BOUNDARY}\r\n" * (_SUBMISSION_BYTES // len(f"x--{BOUNDARY}\r\n") - 50)
    yield case("delimiters inside lines", ("fields", f"{lines}\r\nx\r\n"))
    yield case("1,000 unknown ids", fields(lambda n: answer(n + 100, str, 0), 1_000))
    yield case("answers of wrong type", fields(str, 1_000))
    yield case("256 KB of arrays", fields(lambda n: "[]"))
    yield case("2,400 unknown parts", *((f"{n}", "") for n in range(2_400)))
    yield case("2,400 parts of answers", *((f"fields[{n}][id]", "") for n in range(2_400)))


def _properties(count: int, *, first: int = 0, text: bool = False) -> str:
    numbers = range(first, first + count)
    return ",".join(_property(number, '"x"' if text else "1") for number in numbers)


def _property(number: int, value: str = "1") -> str:
    return f'"{number:x}":{value}'


def _filled(
    start: str, item: Callable[[int], str], end: str, size: int, count: int | None = None
) -> str:
    """Return a text that consists of ``start``, comma-separated items and ``end``.

    The result has at most ``count`` items and at most ``size`` bytes.
    """
    items: list[str] = []
    left = size - len(start) - len(end)
    while count is None or len(items) < count:
        items.append(item(len(items)))
        left -= len(items[-1].encode()) + 1
        if left < 0:
            items.pop()
            break
    return f"{start}{','.join(items)}{end}"


if __name__ == "__main__":
    main()
