"""Compare the most expensive known rejected requests with the most expensive valid ones."""

import gc
import json
import multiprocessing
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing.connection import Connection
from operator import itemgetter
from typing import Any, Final

from admin.services.definitions.kinds import CONTACT_FORM, SURVEY, save
from app import app
from benchmarks import sample_account
from benchmarks.gateway_event import (
    ACCOUNT_ID,
    BOUNDARY,
    Event,
    LambdaContext,
    gateway_event,
    submission,
)
from benchmarks.memory_cloud import connect_to, running_cloud
from benchmarks.report import Section, Table
from benchmarks.request_cost import prepare_settings
from chalicelib.log import logger
from chalicelib.web.json_body import MAX_CONTAINERS

MAX_CPU_RATIO: Final = 5
MAX_MEMORY_RATIO: Final = 2
_LIMITS: Final = {"cpu_ms": MAX_CPU_RATIO, "peak_mb": MAX_MEMORY_RATIO}
_SHOWN: Final = ("status", "cpu_ms", "peak_mb")

ROUNDS: Final = 3
_BATCH_BYTES: Final = 4 * 1024 * 1024
_SUBMISSION_BYTES: Final = 256 * 1024
_ANSWERS: Final = 10
_CREATE: Final = "/partners/customer"
_BATCH: Final = "/partners/customer/batch"
_LIST: Final = "/partners/customer/list"
_FORMS: Final = {
    "/public/contact-form/submit": sample_account.CONTACT_FORM_ID,
    "/public/survey/submit": sample_account.SURVEY_ID,
}
"""The form of the submissions to each endpoint."""

_FORK: Final = multiprocessing.get_context("fork")

Cost = dict[str, Any]
Case = tuple[str, str, Event]
"""A request to measure: its endpoint, its name and its Lambda event."""


def measure() -> Section:
    """Measure requests in child processes."""
    with running_cloud() as cloud:
        connect_to(cloud)
        costs = sorted(_measure_all(), key=itemgetter("endpoint"))
    groups = [list(group) for _, group in groupby(costs, itemgetter("endpoint"))]
    return Section(
        "Cost of rejected requests",
        [
            f"The most expensive known valid request of each endpoint that accepts a body, and"
            f" {len(costs)} attempts to exceed it. CPU time and additional memory of one warm"
            " request in process; another process keeps the tables in memory and responds to AWS"
            f" requests. Limits: {MAX_CPU_RATIO}"
            f" times the CPU time and {MAX_MEMORY_RATIO} times the memory of the valid request. The"
            " other lists accept the same body as the list of customers.",
            Table(
                {"request": "", "status": "", "CPU, ms": ".0f", "memory, MB": ".1f"},
                [row for group in groups for row in _rows(group)],
            ),
        ],
        [failure for group in groups for failure in exceeded_limits(group)],
    )


def exceeded_limits(costs: list[Cost]) -> list[str]:
    """Describe each rejected request that costs too much, for one endpoint.

    The limits are multiples of the most expensive valid request of the endpoint.
    """
    return [
        f"{cost['endpoint']}, {cost['name']}: {measure} {cost[measure]:.1f}, at most {limit:.1f}"
        for measure, ratio in _LIMITS.items()
        for limit in [ratio * max(cost[measure] for cost in costs if _is_valid(cost))]
        for cost in costs
        if cost[measure] > limit and not _is_valid(cost)
    ]


def _is_valid(cost: Cost) -> bool:
    return str(cost["name"]).startswith("valid")


def _rows(costs: list[Cost]) -> list[tuple[Any, ...]]:
    """Return the most expensive valid and other requests of one endpoint."""
    found = {
        cost["name"]: (f"{cost['endpoint']}, {cost['name']}", *(cost[key] for key in _SHOWN))
        for measure in _LIMITS
        for is_valid in (True, False)
        for cost in [max((c for c in costs if _is_valid(c) == is_valid), key=itemgetter(measure))]
    }
    return list(found.values())


def _measure_all() -> list[Cost]:
    prepare_settings()
    logger.setLevel("CRITICAL")
    headers = sample_account.load().headers
    _save_forms()
    page = gateway_event("POST", _LIST, headers=headers, body={"limit": 100})
    for event in [page, *_small_requests(headers)]:  # import all modules and fill the caches
        response = app(event, LambdaContext())
        assert response["statusCode"] < 300, response
    # Build the bodies in another process: building them leaves unused memory in the process, and a
    # measured request could use this memory without increasing the memory of the process.
    with ProcessPoolExecutor(1, _FORK) as builder:
        cases = builder.submit(_cases, headers).result()
    gc.collect()
    gc.freeze()  # exclude existing objects from garbage collection in the child processes
    page_case = (_LIST, "valid: 100 customers", page)
    return [_measure(*case) for case in (page_case, *cases)]


def _cases(headers: dict[str, str]) -> list[Case]:
    submissions = [_submission_cases(path, form_id) for path, form_id in _FORMS.items()]
    return [*_partner_cases(headers), *(case for cases in submissions for case in cases)]


def _measure(endpoint: str, name: str, event: Event) -> Cost:
    """Handle a request several times, each time in a forked child process. Return the lowest costs.

    The child process starts with the memory of this process, so the measured memory is only the
    additional memory of the request.
    """
    costs: list[Cost] = []
    for _ in range(ROUNDS):
        receiving, sending = _FORK.Pipe(duplex=False)
        child = _FORK.Process(target=_handle, args=(event, sending))
        child.start()
        costs.append(receiving.recv())
        child.join()
    cheapest = {key: min(cost[key] for cost in costs) for key in costs[0]}
    return {"endpoint": endpoint, "name": name} | cheapest


def _handle(event: Event, sending: Connection) -> None:
    """Handle a request and send its cost."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    response = app(event, LambdaContext())
    json.dumps(response)  # as the Lambda runtime does
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak_mb = (after.ru_maxrss - before.ru_maxrss) / 1024
    sending.send({"status": response["statusCode"], "cpu_ms": cpu_s * 1000, "peak_mb": peak_mb})


def _save_forms() -> None:
    """Save a contact form and a survey whose fields accept many values."""
    field = {"type": "MULTI_SELECT", "label": "Any", "values": ["Other"], "allowCustomValue": True}
    fields = [field | {"id": _field_id(n), "key": f"many-{n}"} for n in range(_ANSWERS)]
    form = {"name": "Measured", "language": "en", "enabled": True, "fields": fields}
    contact_form = {"id": sample_account.CONTACT_FORM_ID, "brandId": sample_account.BRAND_ID}
    save(CONTACT_FORM, ACCOUNT_ID, form | contact_form)
    save(SURVEY, ACCOUNT_ID, form | {"id": sample_account.SURVEY_ID, "publiclyAvailable": True})


def _field_id(number: int) -> str:
    return f"f0000000-0000-4000-8000-{number:012}"


def _small_requests(headers: dict[str, str]) -> Iterator[Event]:
    row = {"firstName": "Zoé", "email": "zoe@example.com"}
    yield gateway_event("POST", _CREATE, headers=headers, body=row)
    yield gateway_event("POST", _BATCH, headers=headers, body={"batch": [row]})
    for path, form_id in _FORMS.items():
        yield submission(path, ("id", form_id), ("fields", "[]"))


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
    invalid = _filled('{"metadata":{', lambda n: f'"{n}":1', "}}", few)
    yield case(_CREATE, "500 KB of invalid metadata", invalid)
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
        body = _filled('{"batch":[', row, "]}", many, 10_000)
        yield case(_BATCH, name, body)
        if not name.startswith("valid"):
            yield case(_BATCH, f"partial: {name}", body, partial="true")
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
        return path, name, submission(path, ("id", form_id), *parts)

    def fields(answer: Callable[[int], str], count: int | None = None) -> tuple[str, str]:
        return "fields", _filled("[", answer, "]", _SUBMISSION_BYTES - 1_000, count)

    def answer(number: int, value: Callable[[int], str], count: int = 1_000) -> str:
        values = ",".join(value(n) for n in range(count))
        return f'{{"id":"{_field_id(number)}","values":[{values}]}}'

    # With an emoji, Python needs four bytes for each character of the body.
    yield case(
        "valid: 10,000 values",
        fields(lambda n: answer(n, lambda v: f'"{n}-{v:04} custom 😀"'), _ANSWERS),
    )
    yield case("duplicate values", fields(lambda n: answer(n, lambda _: '"x"'), _ANSWERS))
    yield case("values of wrong type", fields(lambda n: answer(n, lambda _: "1"), _ANSWERS))
    yield case("lone surrogates", fields(lambda n: answer(n, lambda _: r'"\ud800😀"'), _ANSWERS))
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
