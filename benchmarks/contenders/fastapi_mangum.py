"""Serve the read endpoints with FastAPI behind Mangum.

The view functions are coroutines although they block: a Lambda function serves one request at a
time, so FastAPI's thread pool would only add cost. The view functions return `JSONResponse` to
bypass FastAPI's own serialization.
"""

from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from mangum import Mangum

from benchmarks.contenders.plain_reads import LISTS, READS

_app: Final = FastAPI()


def _get(read: Callable[[str], Any]) -> Callable[..., Any]:
    async def get(id: str) -> JSONResponse:  # noqa: A002 - the name of the query parameter
        return JSONResponse(read(id))

    return get


def _post(read: Callable[[int, int], Any]) -> Callable[..., Any]:
    async def post(request: Request) -> JSONResponse:
        body = await request.json()
        return JSONResponse(read(body.get("limit", 10), body.get("page", 1)), 201)

    return post


for path, read in READS.items():
    _app.get(path)(_get(read))
for path, read_page in LISTS.items():
    _app.post(path)(_post(read_page))

handler: Final[Any] = Mangum(_app, lifespan="off")
