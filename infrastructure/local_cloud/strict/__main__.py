"""Start the emulator behind the strict layer.

The emulator has no extension points, so this module replaces some of its private functions. The
emulator's version is pinned.
"""

import os
import random
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ministack.app  # type: ignore[import-not-found]
from ministack.core import lambda_runtime  # type: ignore[import-not-found]
from ministack.services import (  # type: ignore[import-not-found]
    apigateway_v1,
    dynamodb,
    lambda_svc,
    ses,
    sns,
)

from infrastructure.local_cloud.strict.cloudformation import support_templates
from infrastructure.local_cloud.strict.faults import Faults, IndexLag, with_faults
from infrastructure.local_cloud.strict.layer import StrictLayer
from infrastructure.local_cloud.strict.limits import (
    is_too_large_for_function,
    limited_result,
    with_limited_payload,
)
from infrastructure.local_cloud.strict.mail_from import with_mail_from
from infrastructure.local_cloud.strict.mailbox import Mailbox, in_thread, print_line
from infrastructure.local_cloud.strict.permissions import check_permissions_as_aws
from infrastructure.local_cloud.strict.shared_code import SharedPackage
from infrastructure.local_cloud.strict.webhook_receiver import WebhookReceiver

_OTHER_METHODS = "x-amazon-apigateway-any-method"


class RequestTooLarge(Exception):
    """A request to the gateway is larger than the gateway's or Lambda's limit."""


def limit_gateway() -> None:
    """Make the gateway reject requests that are too large, as API Gateway does."""
    build_event = apigateway_v1._build_lambda_event_v1
    execute = apigateway_v1._execute_in_scope

    def build_limited_event(*arguments: Any, **named: Any) -> Any:
        event = build_event(*arguments, **named)
        body = arguments[7]
        if is_too_large_for_function(event, body or b""):
            raise RequestTooLarge
        return event

    async def execute_limited(*arguments: Any) -> Any:
        try:
            return await execute(*arguments)
        except RequestTooLarge:
            return apigateway_v1._gw_error("REQUEST_TOO_LARGE", "Request Too Long")

    apigateway_v1._build_lambda_event_v1 = build_limited_event
    apigateway_v1._execute_in_scope = execute_limited


def import_other_methods() -> None:
    """Import the operation of a path for all methods without an operation of their own."""
    import_path_item = apigateway_v1._import_path_item

    def import_with_other_methods(api_id: str, path: str, item: Any, *schemes: Any) -> None:
        methods = {("any" if name == _OTHER_METHODS else name): item[name] for name in item}
        import_path_item(api_id, path, methods, *schemes)

    apigateway_v1._OPENAPI_HTTP_METHODS = {*apigateway_v1._OPENAPI_HTTP_METHODS, "any"}
    apigateway_v1._import_path_item = import_with_other_methods


def limit_functions() -> None:
    """Limit the size of responses of functions, and write their logs to the emulator's log."""
    dispatch = lambda_svc._execute_function_dispatch

    def dispatch_limited(*arguments: Any) -> Any:
        result = dispatch(*arguments)
        if output := str(result.get("log") or "").strip():
            print(output + "\n", end="", file=sys.stderr)
        return limited_result(result)

    lambda_svc._execute_function_dispatch = dispatch_limited


def share_code() -> None:
    """Let all processes of functions share one copy of the deployment package."""
    lambda_runtime.zipfile = SimpleNamespace(**vars(zipfile) | {"ZipFile": SharedPackage})


def delay_indexes(faults: Faults) -> None:
    """Make index queries return the previous state of items while the index lags."""
    lag = IndexLag(faults)
    emit, query = dynamodb._emit_stream_event, dynamodb._query

    def emit_and_record(
        table_name: str, event: str, old: Any, new: Any, replicate: bool = True
    ) -> None:
        emit(table_name, event, old, new, replicate)
        if table := dynamodb._tables.get(table_name):
            key = dynamodb._resolve_table_key_values(table, old or new, allow_extra=True)[:2]
            lag.record_write(table_name, key, old)

    def query_with_lag(request: Any) -> Any:
        name = dynamodb._normalize_table_name(request.get("TableName"))
        if not request.get("IndexName") or not (previous := lag.previous_items(name)):
            return query(request)
        with replaced_items(dynamodb._tables.get(name), previous):
            return query(request)

    dynamodb._emit_stream_event = emit_and_record
    dynamodb._query = query_with_lag


def store_messages(mailbox: Mailbox) -> None:
    """Store e-mails instead of relaying them, and text messages instead of listing them."""
    texts = SimpleNamespace(append=mailbox.store_text_message)
    ses._smtp_relay = lambda _source, _addresses, content: mailbox.store_mail(content)
    sns._sms_log_for = lambda _number: texts


def cache_syntax_checks() -> None:
    """Check the syntax of each condition once. The same conditions occur in many requests."""
    dynamodb._condition_syntax_error = lru_cache(maxsize=1000)(dynamodb._condition_syntax_error)


@contextmanager
def replaced_items(table: Any, items: dict[Any, Any]) -> Iterator[None]:
    """Replace items of a table inside the ``with`` block.

    The emulator runs one operation at a time, so only an operation of the block reads these items.
    """

    def replace(replacements: dict[Any, Any]) -> dict[Any, Any]:
        return {
            (partition, sort): dynamodb._remove_item(table, partition, sort)
            if item is None
            else dynamodb._set_item(table, partition, sort, item)
            for (partition, sort), item in replacements.items()
        }

    current = replace(items)
    try:
        yield
    finally:
        replace(current)


def main() -> None:
    """Run the emulator until it is stopped."""
    faults = Faults(random.Random())  # noqa: S311 - no cryptographic use
    import_other_methods()
    limit_gateway()
    limit_functions()
    share_code()
    dynamodb.handle_request = with_faults(dynamodb.handle_request, faults)
    lambda_svc.handle_request = with_limited_payload(lambda_svc.handle_request)
    delay_indexes(faults)
    cache_syntax_checks()
    support_templates()
    check_permissions_as_aws()
    # The emulator keeps its state in a part of the folder of the local cloud.
    folder = Path(os.environ["STATE_DIR"]).parent
    show = in_thread(print_line)
    mailbox = Mailbox(folder / "mail", show)
    store_messages(mailbox)
    ses.handle_request = with_mail_from(ses.handle_request, {})
    webhooks = WebhookReceiver(folder, show)
    ministack.app.app = StrictLayer(ministack.app.app, faults, mailbox, webhooks)
    ministack.app.main()


if __name__ == "__main__":
    main()
