"""Tests of pagination: the positions on a page, the page numbers and the totals."""

import json

import pytest
from chalice import Response
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.paging import (
    MAX_LIMIT,
    MAX_LISTED_BYTES,
    MAX_PAGE,
    PageRequest,
    block_of,
    marshalled_bytes,
    page_meta,
)
from infrastructure.local_cloud.strict.limits import LAMBDA_BYTES


@pytest.mark.parametrize(
    ("limit", "total_items", "total_pages"),
    [
        (10, 0, 0),
        (10, 1, 1),
        (10, 9, 1),
        (10, 10, 1),
        (10, 11, 2),
        (1, 3, 3),
        (100, 100, 1),
        (100, 101, 2),
        (100, 2**53 + 1, 90_071_992_547_410),
    ],
)
def test_total_pages_includes_last_partial_page(
    limit: int, total_items: int, total_pages: int
) -> None:
    assert page_meta(PageRequest(limit=limit), 0, total_items).total_pages == total_pages


@pytest.mark.parametrize(("page", "item_count"), [(1, 10), (3, 5), (4, 0), (MAX_PAGE, 0)])
def test_meta_of_page_after_last_page_contains_totals(page: int, item_count: int) -> None:
    meta = page_meta(PageRequest(page=page), item_count, 25)
    assert (meta.current_page, meta.item_count) == (page, item_count)
    assert (meta.total_items, meta.items_per_page, meta.total_pages) == (25, 10, 3)


@given(st.integers(1, 100), st.integers(1, 40), st.integers(0, 2_000))
def test_ranges_contain_each_position_of_page_once(limit: int, page: int, total: int) -> None:
    request = PageRequest(limit=limit, page=page)
    ranges = list(request.ranges(total))
    positions = [p for _, first, last in ranges for p in range(first, last + 1)]
    assert positions == list(range(request.first_position, min(request.last_position, total) + 1))
    assert all(block_of(p) == block for block, *ends in ranges for p in ends)
    assert len(ranges) <= (1 if 100 % limit == 0 else 2)


@given(st.text())
def test_marshalled_bytes_equal_size_of_body_in_json_response(text: str) -> None:
    body = json.dumps({"text": text}, ensure_ascii=False)
    with_body, without_body = (
        len(json.dumps(Response(content, status_code=201).to_dict())) for content in (body, "")
    )
    assert marshalled_bytes(body) == with_body - without_body


def test_page_of_100_largest_records_fits_lambda_response() -> None:
    record = "Ж" * (MAX_LISTED_BYTES // 6)
    growth = "x" * 1_900
    meta = page_meta(PageRequest(limit=MAX_LIMIT, page=MAX_PAGE), MAX_LIMIT, MAX_PAGE)
    items = ",".join([record + growth] * MAX_LIMIT)
    body = f'{{"items":[{items}],"meta":{meta.model_dump_json()}}}'
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    assert len(json.dumps(Response(body, headers, 201).to_dict())) <= LAMBDA_BYTES
