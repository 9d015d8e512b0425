"""Write the example requests of the documentation: as curl, Python and JavaScript."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART

Schema = dict[str, Any]

NOW: Final = "NOW"
"""The variable of the current time: surveys about old purchases are not sent."""
SOURCES: Final = {
    "STORE_ID": ("the `id` of a store", "listPlaces"),
    "FORM_ID": ("the `id` of an item", "listContactForms"),
    "SURVEY_ID": ("the `id` of an item", "listSurveys"),
    "PURCHASE_ID": ("the `id` of an item", "reportPurchases"),
    "CUSTOMER_ID": ("the `id` of an item", "listCustomers"),
    "FORMER_CUSTOMER_ID": ("the `id` of a customer to erase", "createCustomer"),
    "IMPORT_ID": ("the `id`", "importCustomers"),
    "FEEDBACK_ID": ("the `id` of an item", "listFeedback"),
    "WORKFLOW_ID": ("the `id` of an item", "listWorkflows"),
    "ACTION_ID": ("the `id` of one of its `actions`", "listWorkflows"),
    "DELIVERY_ID": ("the `id`", "testWebhook"),
}
"""The variables of ids, and where to find each one: in the response to an operation."""
_FIELDS: Final = {
    "date": NOW,
    "storeId": "STORE_ID",
    "purchase": "PURCHASE_ID",
    "purchaseId": "PURCHASE_ID",
    "workflowId": "WORKFLOW_ID",
    "actionId": "ACTION_ID",
}
_IDS: Final = {
    "getPurchase": "PURCHASE_ID",
    "getContactForm": "FORM_ID",
    "getSurvey": "SURVEY_ID",
    "getCustomer": "CUSTOMER_ID",
    "changeCustomer": "CUSTOMER_ID",
    "eraseCustomer": "FORMER_CUSTOMER_ID",
    "getErasure": "FORMER_CUSTOMER_ID",
    "getCustomerBatch": "IMPORT_ID",
    "getFeedback": "FEEDBACK_ID",
    "getWebhookDelivery": "DELIVERY_ID",
}
"""The variable of the parameter or field ``id``, by operation."""

NEW_KEY: Final = "$(uuidgen)"
"""The value of a header that is a new UUID in each run."""

_VARIABLE: Final = re.compile(r"\$([A-Z_]+)")
_MAX_LINE: Final = 100
_JSON: Final[Mapping[Any, str]] = {None: "null", True: "true", False: "false"}
_PYTHON: Final[Mapping[Any, str]] = {None: "None", True: "True", False: "False"}


@dataclass(frozen=True)
class Request:
    """An example request.

    Attributes:
        path: the path with the query. It can contain variables such as ``$IMPORT_ID``.
        headers: the headers. Their values can be variables, or `NEW_KEY`: a new UUID in each run.
        json_body: the JSON body, or None.
        parts: the parts of a multipart body.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    json_body: Any = None
    parts: Mapping[str, str] = field(default_factory=dict)


def request_of(document: Schema, path: str, method: str, operation: Schema) -> Request:
    """Return the request that sends the first example of the operation."""
    query, headers = "", {}
    is_partner = operation.get("security") != []
    variables = _FIELDS | {"id": _IDS.get(operation["operationId"], "")} if is_partner else {}
    for parameter in operation.get("parameters", ()):
        if parameter["name"] == IDEMPOTENCY_HEADER:
            headers[IDEMPOTENCY_HEADER] = NEW_KEY
        elif parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
        elif parameter["required"]:
            variable = variables.get(parameter["name"])
            value = f"${variable}" if variable else parameter["example"]
            query += f"{'&' if query else '?'}{parameter['name']}={value}"
    if is_partner:
        schemes = document["components"]["securitySchemes"].values()
        names = [scheme["name"] for scheme in schemes]
        headers = {name: f"${variable_name(name)}" for name in names} | headers
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        body = next(iter(content["examples"].values()))["value"]
        if media_type == MULTIPART:
            parts = {name: _part(value) for name, value in body.items()}
            return Request(method, path + query, headers, parts=parts)
        body = _with_variables(body, variables)
        return Request(method, path + query, headers | {"Content-Type": media_type}, body)
    return Request(method, path + query, headers)


def curl(request: Request) -> str:
    """Return a shell command that sends the request."""
    lines = [
        f'-H "{name}: {value}"' if "$" in value else f"-H '{name}: {value}'"
        for name, value in request.headers.items()
    ]
    lines += [f"-F {shlex.quote(f'{name}={value}')}" for name, value in request.parts.items()]
    if request.json_body is not None:
        lines.append(f"-d {_shell_text(json.dumps(request.json_body, ensure_ascii=False))}")
    has_body = request.parts or request.json_body is not None
    if request.method != ("post" if has_body else "get"):
        lines.append(f"-X {request.method.upper()}")
    return " \\\n  ".join([f'curl -sS "$BASE_URL{request.path}"', *lines])


def python(request: Request) -> str:
    """Return a Python program that sends the request with the library requests."""
    values = {
        name: "str(uuid.uuid4())" if value == NEW_KEY else _python_text(value)
        for name, value in request.headers.items()
        if name != "Content-Type"  # the library sets it
    }
    lines = [f"    {_python_text(f'$BASE_URL{request.path}')},"]
    if values:
        headers = [f'        "{name}": {value},' for name, value in values.items()]
        lines += ["    headers={", *headers, "    },"]
    if request.parts:
        parts = [
            f"        {json.dumps(name)}: (None, {json.dumps(value, ensure_ascii=False)}),"
            for name, value in request.parts.items()
        ]
        lines += ["    files={", *parts, "    },"]
    if request.json_body is not None:
        body = in_lines(
            request.json_body, "    ", step="    ", constants=_PYTHON, text=_python_text
        )
        lines.append(f"    json={body},")
    code = "\n".join(lines)
    modules = [name for name in ("os", "uuid") if f"{name}." in code]
    imports = "".join(f"import {name}\n" for name in modules)
    return (
        f"{imports}\nimport requests\n\nresponse = requests.{request.method}(\n{code}\n)\n"
        "response.raise_for_status()\nprint(response.text)"
    )


def javascript(request: Request) -> str:
    """Return a JavaScript module that sends the request, for Node.js."""
    values = {
        name: "crypto.randomUUID()" if value == NEW_KEY else _javascript_text(value)
        for name, value in request.headers.items()
    }
    lines = [f'  method: "{request.method.upper()}",']
    if values:
        headers = [f'    "{name}": {value},' for name, value in values.items()]
        lines += ["  headers: {", *headers, "  },"]
    before = ""
    if request.parts:
        before = "const body = new FormData();\n" + "".join(
            f"body.append({json.dumps(name)}, {json.dumps(value, ensure_ascii=False)});\n"
            for name, value in request.parts.items()
        )
        lines.append("  body,")
    if request.json_body is not None:
        body = in_lines(request.json_body, "  ", step="  ", text=_javascript_text)
        lines.append(f"  body: JSON.stringify({body}),")
    code = "\n".join(lines)
    url = _javascript_text(f"$BASE_URL{request.path}")
    return (
        f"{before}const response = await fetch({url}, {{\n{code}\n}});\n"
        "console.log(response.status, await response.text());"
    )


LANGUAGES: Final[Mapping[str, Callable[[Request], str]]] = {
    "curl": curl,
    "Python": python,
    "JavaScript": javascript,
}


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def in_lines(
    value: Any,
    indent: str = "",
    *,
    step: str = " ",
    constants: Mapping[Any, str] = _JSON,
    text: Callable[[str], str] = _json_text,
) -> str:
    """Return the value on one line of at most 100 characters, otherwise indented.

    Args:
        constants: how the language writes None, True and False.
        text: writes a string in the language.
    """
    if isinstance(value, str):
        return text(value)
    if not isinstance(value, dict | list):
        is_constant = value is None or isinstance(value, bool)
        return constants[value] if is_constant else json.dumps(value)

    deeper = indent + step
    write = partial(in_lines, indent=deeper, step=step, constants=constants, text=text)
    if isinstance(value, list):
        start, end, lines = "[", "]", [write(item) for item in value]
    else:
        members = [f"{json.dumps(key)}: {write(member)}" for key, member in value.items()]
        start, end, lines = "{", "}", members
    line = f"{start}{', '.join(lines)}{end}"
    if "\n" not in line and len(indent) + len(line) <= _MAX_LINE:
        return line
    return f"{start}\n{deeper}" + f",\n{deeper}".join(lines) + f"\n{indent}{end}"


def _shell_text(text: str) -> str:
    return _VARIABLE.sub(r"'$\1'", shlex.quote(text))


def _python_text(text: str) -> str:
    code = _VARIABLE.sub(r"{os.environ['\1']}", text)
    if code == text:
        return _json_text(text)
    variable = re.fullmatch(r"\{(.*)\}", code)
    return variable[1].replace("'", '"') if variable and text.count("$") == 1 else f'f"{code}"'


def _javascript_text(text: str) -> str:
    variable = _VARIABLE.fullmatch(text)
    if variable:
        return f"process.env.{variable[1]}"
    code = _VARIABLE.sub(r"${process.env.\1}", text)
    return _json_text(text) if code == text else f"`{code}`"


def _with_variables(value: Any, variables: Mapping[str, str]) -> Any:
    """Return the JSON value with variables instead of the values of these fields."""
    if isinstance(value, list):
        return [_with_variables(item, variables) for item in value]
    if isinstance(value, dict):
        return {
            name: f"${variables[name]}" if variables.get(name) else _with_variables(item, variables)
            for name, item in value.items()
        }
    return value


def _part(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def variable_name(header: str) -> str:
    """Return the environment variable with the value of a header of credentials."""
    return header.removeprefix("X-").replace("-", "_")
