"""Register the routes, the queue handlers and the schedule with Chalice.

Every Lambda function imports this module at start-up, so each handler imports the code that it
needs only when it is called.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Chalice's own commands import this file. The deployed app contains no folder `infrastructure`.
if "AWS_CHALICE_CLI_MODE" in os.environ and Path(__file__).with_name("infrastructure").is_dir():
    from infrastructure.chalice_commands import prepare

    prepare()

from chalice import Chalice, Rate
from chalice.app import CloudWatchEvent, SQSEvent

from chalicelib.queues import (
    ERASURES,
    FEEDBACK,
    IMPORTS,
    LISTING,
    MESSAGE_EVENTS,
    PURCHASES,
    SOLICITATIONS,
    WEBHOOKS,
    Queue,
)
from chalicelib.settings import settings
from chalicelib.web.openapi.routes import routes as description_routes
from chalicelib.web.partner.routes import routes as partner_routes
from chalicelib.web.public.message_routes import routes as message_routes
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from chalicelib.web.public.page_routes import routes as page_routes
from chalicelib.web.public.routes import routes as public_routes
from chalicelib.web.request_log import observe

# The app name is also the name of the logger of chalicelib. With ``configure_logs=False``, Chalice
# does not change the level of this logger.
app = Chalice(app_name="feedback", configure_logs=False)
# The gateway encodes bodies of these media types in Base64, so that their bytes arrive unchanged.
app.api.binary_types.append(MULTIPART)
app.register_middleware(observe, "http")
app.register_blueprint(partner_routes)
app.register_blueprint(public_routes)
app.register_blueprint(page_routes)
app.register_blueprint(message_routes)
app.register_blueprint(description_routes)


def on_messages(queue: Queue) -> Callable[[Callable[[SQSEvent], Any]], Any]:
    """Return a decorator that registers a Lambda function for the messages of a queue."""
    decorator: Callable[[Callable[[SQSEvent], Any]], Any] = app.on_sqs_message(
        queue=settings().resource_name(queue.name),
        batch_size=queue.batch_size,
        maximum_batching_window_in_seconds=queue.batch_window_s,
        maximum_concurrency=queue.max_concurrency,
    )
    return decorator


@on_messages(IMPORTS)
def import_customers(event: SQSEvent) -> Any:
    """Import chunks of customers."""
    from chalicelib.functions import import_customers as function

    return function.import_customers(event)


@on_messages(LISTING)
def assign_positions(event: SQSEvent) -> Any:
    """Assign list positions to customers that were created without a position."""
    from chalicelib.functions import assign_positions as function

    return function.assign_positions(event)


@on_messages(FEEDBACK)
def process_feedback(event: SQSEvent) -> Any:
    """Process new feedback."""
    from chalicelib.functions import process_feedback as function

    return function.process_feedback(event)


@on_messages(WEBHOOKS)
def send_webhook(event: SQSEvent) -> Any:
    """Deliver webhooks."""
    from chalicelib.functions import send_webhook as function

    return function.send_webhook(event)


@on_messages(PURCHASES)
def record_purchase(event: SQSEvent) -> Any:
    """Record purchases."""
    from chalicelib.functions import record_purchase as function

    return function.record_purchase(event)


@on_messages(SOLICITATIONS)
def send_survey(event: SQSEvent) -> Any:
    """Send surveys to customers after their purchases."""
    from chalicelib.functions import send_survey as function

    return function.send_survey(event)


@on_messages(MESSAGE_EVENTS)
def process_message_events(event: SQSEvent) -> Any:
    """Process bounces and complaints."""
    from chalicelib.functions import process_message_events as function

    return function.process_message_events(event)


@on_messages(ERASURES)
def erase_customer(event: SQSEvent) -> Any:
    """Continue the erasures of customers."""
    from chalicelib.functions import erase_customer as function

    return function.erase_customer(event)


@app.schedule(Rate(1, unit=Rate.MINUTES))
def sweep(event: CloudWatchEvent) -> None:
    """Requeue overdue work."""
    from chalicelib.functions import sweep as function

    function.sweep(event)
