"""Every endpoint there is, in words. A new endpoint is one new entry in `OPERATIONS`."""

from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.customers.customer import (
    MAX_CUSTOMER_BYTES,
    Customer,
    CustomerBody,
    CustomerPage,
)
from chalicelib.domain.customers.import_batch import (
    MAX_ROWS,
    AcceptedBatch,
    BatchBody,
    ImportProgress,
)
from chalicelib.domain.errors import (
    IdempotencyKeyReused,
    InputTooLarge,
    InvalidInput,
    NotFound,
)
from chalicelib.domain.forms.contact_form import PartnerContactForm
from chalicelib.domain.forms.list_pages import ContactFormPage, SurveyPage
from chalicelib.domain.forms.survey import PartnerSurvey
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import MAX_KEY
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.paging import DEFAULT_LIMIT, MAX_LIMIT, PageRequest
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.web import json_body
from chalicelib.web.openapi import examples as example
from chalicelib.web.openapi.operation import Answer, Operation, Parameter, RequestBody
from chalicelib.web.problems import UnsupportedMediaType

PURCHASES: Final = "Purchases"
CONTACT_FORMS: Final = "Contact forms"
SURVEYS: Final = "Surveys"
CUSTOMERS: Final = "Customers"
END_USERS: Final = "For end users"
DESCRIPTION: Final = "This description"

TAGS: Final = {
    PURCHASES: "What customers bought or booked, where and when.",
    CONTACT_FORMS: "Forms aimed at a brand, with their style, fields and conditions.",
    SURVEYS: "Forms sent to customers after a purchase: when, how, and where they lead.",
    CUSTOMERS: "People who purchased, reviewed, or both.",
    END_USERS: "Forms and surveys as end users get and answer them: from any origin, without"
    " credentials.",
    DESCRIPTION: "The interface, for programs and for people. No credentials are needed.",
}
"""The groups of operations, in the order of the page."""


IDEMPOTENCY_KEY: Final = Parameter(
    IDEMPOTENCY_HEADER,
    f"Makes the request safe to send again: {MAX_KEY} printable ASCII characters at most, new for"
    " each thing to make. The same key with the same input is answered with what it made the first"
    " time, and makes nothing new.",
    {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": "^[ -~]+$"},
    "import-2026-11-20",
    place="header",
)


def _refusal(body: Any, model: type[BaseModel], *prefix: str | int) -> InvalidInput:
    """What is really answered to a body, or a part of one, that breaks the model's rules."""
    try:
        parse(body, model, *prefix)
    except InvalidInput as refusal:
        return refusal
    raise ValueError(f"This is no bad example of {model.__name__}: {body}")


def _reading(
    path: str,
    identifier: str,
    tag: str,
    resource: str,
    description: str,
    model: type[BaseModel],
    answer: Any,
) -> Operation:
    """GET of one resource by its id."""
    return Operation(
        "GET",
        path,
        identifier,
        tag,
        f"Read a {resource}",
        description,
        (Answer(200, f"The {resource}.", model, answer),),
        parameters=(
            Parameter(
                "id",
                f"Identifier of the {resource}: a UUID of the form 8-4-4-4-12, in either case.",
                {"type": "string", "format": "uuid"},
                answer["id"],
                required=True,
            ),
        ),
        errors=(
            InvalidInput([InputError("?id", "required", "Required.")]),
            NotFound(resource),
        ),
    )


def _listing(
    path: str, identifier: str, tag: str, resources: str, model: type[BaseModel], answer: Any
) -> Operation:
    """POST that answers one page of a list."""
    return Operation(
        "POST",
        path,
        identifier,
        tag,
        f"List {resources}",
        f"One page of the account's {resources}, in the order of their creation, oldest first. A"
        " page past the end has no items and the true totals.",
        (Answer(201, f"The page of {resources}.", model, answer),),
        body=RequestBody(
            PageRequest,
            f"Which page. An empty body asks for the first {DEFAULT_LIMIT} records and needs no"
            " content type.",
            {
                "The first page": {},
                "The largest third page": {"limit": MAX_LIMIT, "page": 3},
            },
            required=False,
        ),
        errors=(
            _refusal({"limit": MAX_LIMIT + 1, "offset": 0}, PageRequest),
            InputTooLarge("body", json_body.MAX_BYTES),
            UnsupportedMediaType(json_body.MEDIA_TYPE),
        ),
    )


def _described(
    path: str, identifier: str, summary: str, description: str, answer: Answer
) -> Operation:
    """GET of the description itself, in one of its forms."""
    return Operation(
        "GET",
        path,
        identifier,
        DESCRIPTION,
        summary,
        description,
        (
            answer,
            Answer(
                304, "It has not changed since it was read.", None, headers=("ETag", "MayBeKept")
            ),
        ),
        parameters=(
            Parameter(
                "If-None-Match",
                "The `ETag` of an earlier answer, to be told when nothing has changed.",
                {"type": "string"},
                'W/"3f9c2a7d51e84b06"',
                place="header",
            ),
        ),
        needs_credentials=False,
    )


WRITING_ERRORS: Final = (
    InputTooLarge("body", json_body.MAX_BYTES),
    UnsupportedMediaType(json_body.MEDIA_TYPE),
    IdempotencyKeyReused(),
)
"""How a request that makes something may fail, beside bad input."""

OPERATIONS: Final = (
    _reading(
        "/partners/purchase",
        "getPurchase",
        PURCHASES,
        "purchase",
        "One purchase, with its customer and its store's name as they are now.",
        Purchase,
        example.PURCHASE,
    ),
    _reading(
        "/partners/contact-form",
        "getContactForm",
        CONTACT_FORMS,
        "contact form",
        "One contact form, with all that decides how it looks and what it asks.",
        PartnerContactForm,
        example.CONTACT_FORM,
    ),
    _listing(
        "/partners/contact-form/list",
        "listContactForms",
        CONTACT_FORMS,
        "contact forms",
        ContactFormPage,
        example.CONTACT_FORM_PAGE,
    ),
    _reading(
        "/partners/survey",
        "getSurvey",
        SURVEYS,
        "survey",
        "One survey, with all that decides when it is sent, how it looks and what it asks.",
        PartnerSurvey,
        example.SURVEY,
    ),
    _listing(
        "/partners/survey/list",
        "listSurveys",
        SURVEYS,
        "surveys",
        SurveyPage,
        example.SURVEY_PAGE,
    ),
    _reading(
        "/partners/customer",
        "getCustomer",
        CUSTOMERS,
        "customer",
        "One customer, with identifiers in other systems and data by source.",
        Customer,
        example.CUSTOMER,
    ),
    Operation(
        "POST",
        "/partners/customer",
        "createCustomer",
        CUSTOMERS,
        "Create a customer",
        "Always makes a new customer, even where one with the same e-mail and phone exists. No key"
        " is required on its own, but something must be given; `null` and an empty text are not"
        f" given. A customer may have {MAX_CUSTOMER_BYTES // 1024} KB.",
        (Answer(201, "The new customer.", Customer, example.NEW_CUSTOMER),),
        parameters=(IDEMPOTENCY_KEY,),
        body=RequestBody(
            CustomerBody,
            "The customer. Texts are trimmed.",
            {"No more than a name": {"firstName": "Tom"}, "A customer": example.CUSTOMER_BODY},
        ),
        errors=(
            _refusal({"emial": "tom@example.com", "language": "french"}, CustomerBody),
            *WRITING_ERRORS,
        ),
    ),
    _listing(
        "/partners/customer/list",
        "listCustomers",
        CUSTOMERS,
        "customers",
        CustomerPage,
        example.CUSTOMER_PAGE,
    ),
    Operation(
        "POST",
        "/partners/customer/batch",
        "importCustomers",
        CUSTOMERS,
        "Import a batch of customers",
        "Keeps the rows and does them soon after; the answer's `id` is what to ask for progress"
        " with. A row whose e-mail and phone are those of a customer makes no new one: it fills in"
        " what was null and leaves the rest. Rows of one batch are treated the same way, in their"
        " order.\n\nEach row is judged as a customer on its own. One bad row refuses the whole"
        " batch, unless `partial` is true.",
        (
            Answer(
                201,
                "The batch is kept and will be done.",
                AcceptedBatch,
                example.ACCEPTED_BATCH,
            ),
        ),
        parameters=(
            IDEMPOTENCY_KEY,
            Parameter(
                "partial",
                "Whether to take the good rows of a batch that has bad ones too, which `rejected`"
                " then lists.",
                {"type": "boolean", "default": False},
                True,
            ),
        ),
        body=RequestBody(
            BatchBody,
            f"1 to {MAX_ROWS:,} rows, {json_body.MAX_BYTES // 1024**2} MB at most.",
            {"Three rows": example.BATCH_BODY},
        ),
        errors=(
            _refusal({"email": "nobody"}, CustomerBody, "batch", 3),
            *WRITING_ERRORS,
        ),
    ),
    _reading(
        "/partners/customer/batch",
        "getCustomerBatch",
        CUSTOMERS,
        "batch",
        "How far a batch of customers has come. `created`, `filled`, `unchanged` and `failed` count"
        " its rows; once the status is `COMPLETED` or `FAILED` they add up to `rowCount`. A batch"
        " can be asked for during 90 days.",
        ImportProgress,
        example.BATCH_PROGRESS,
    ),
    _described(
        "/openapi.json",
        "getDescription",
        "Read the description",
        "This interface as an OpenAPI 3.1 document.",
        Answer(
            200,
            "The OpenAPI document.",
            {"type": "object", "required": ["openapi", "info", "paths"]},
            headers=("ETag", "MayBeKept"),
        ),
    ),
    _described(
        "/docs",
        "getDocumentation",
        "Read the description as a page",
        "The same description as a page for people. It asks no other host for anything.",
        Answer(
            200,
            "The page.",
            {"type": "string"},
            headers=("ETag", "MayBeKept"),
            media_type="text/html",
        ),
    ),
)
