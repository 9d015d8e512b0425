"""Serve the read endpoints with FastAPI behind Mangum.

The view functions are coroutines although they block: a Lambda function serves one request at a
time, so FastAPI's thread pool would only add cost. The view functions return `JSONResponse` to
bypass FastAPI's own serialization.
"""

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from mangum import Mangum

from benchmarks.contenders import plain_reads

_app: Final = FastAPI()


async def _page(request: Request) -> tuple[int, int]:
    body = await request.json()
    return body.get("limit", 10), body.get("page", 1)


@_app.get("/partners/purchase")
async def get_purchase(id: str) -> JSONResponse:  # noqa: A002 - the name of the query parameter
    return JSONResponse(plain_reads.read_purchase(id))


@_app.get("/partners/contact-form")
async def get_contact_form(id: str) -> JSONResponse:  # noqa: A002
    return JSONResponse(plain_reads.read_contact_form(id))


@_app.post("/partners/contact-form/list")
async def post_contact_form_list(request: Request) -> JSONResponse:
    return JSONResponse(plain_reads.list_contact_forms(*await _page(request)), 201)


@_app.get("/partners/survey")
async def get_survey(id: str) -> JSONResponse:  # noqa: A002
    return JSONResponse(plain_reads.read_survey(id))


@_app.post("/partners/survey/list")
async def post_survey_list(request: Request) -> JSONResponse:
    return JSONResponse(plain_reads.list_surveys(*await _page(request)), 201)


@_app.get("/partners/customer")
async def get_customer(id: str) -> JSONResponse:  # noqa: A002
    return JSONResponse(plain_reads.read_customer(id))


@_app.post("/partners/customer/list")
async def post_customer_list(request: Request) -> JSONResponse:
    return JSONResponse(plain_reads.list_customers(*await _page(request)), 201)


handler: Final[Any] = Mangum(_app, lifespan="off")
