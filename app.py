"""Register the routes, the queue handlers and the schedule with Chalice.

Every Lambda function imports this module at start-up, so each handler imports the code that it
needs only when it is called.
"""
# ruff: noqa: E402 - the collection of garbage is off during the imports

import gc
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

# Nothing that the start creates becomes garbage. A collection would only delay the first response.
gc.disable()

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
    SUPPRESSIONS,
    WEBHOOKS,
    Queue,
)
from chalicelib.settings import settings
from chalicelib.web.openapi.routes import routes as description_routes
from chalicelib.web.partner.customer_routes import routes as customer_routes
from chalicelib.web.partner.feedback_routes import routes as feedback_routes
from chalicelib.web.partner.purchase_routes import routes as purchase_routes
from chalicelib.web.partner.routes import routes as partner_routes
from chalicelib.web.partner.webhook_routes import routes as webhook_routes
from chalicelib.web.public.message_routes import routes as message_routes
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from chalicelib.web.public.routes import routes as public_routes
from chalicelib.web.request_log import observe

# The app name is also the name of the logger of chalicelib. With ``configure_logs=False``, Chalice
# does not change the level of this logger.
app = Chalice(app_name="feedback", configure_logs=False)
# The gateway encodes bodies of these media types in Base64, so that their bytes arrive unchanged.
app.api.binary_types.append(MULTIPART)
app.register_middleware(observe, "http")
app.register_blueprint(partner_routes)
app.register_blueprint(customer_routes)
app.register_blueprint(purchase_routes)
app.register_blueprint(feedback_routes)
app.register_blueprint(webhook_routes)
app.register_blueprint(public_routes)
app.register_blueprint(message_routes)
app.register_blueprint(description_routes)


def on_messages(queue: Queue) -> Callable[[Callable[[], Any]], Any]:
    """Return a decorator that registers a Lambda function for the messages of a queue.

    The decorated function imports and returns the declaration of the work.
    """
    register = app.on_sqs_message(
        queue=settings().resource_name(queue.name),
        batch_size=queue.batch_size,
        maximum_batching_window_in_seconds=queue.batch_window_s,
        maximum_concurrency=queue.max_concurrency,
    )

    def decorate(worker: Callable[[], Any]) -> Any:
        @wraps(worker)
        def handle(event: SQSEvent) -> Any:
            from chalicelib.services.work.partial_batch import process_batch

            return process_batch(worker(), event.to_dict()["Records"], event.context)

        return register(handle)

    return decorate


@on_messages(IMPORTS)
def import_customers() -> Any:
    """Import chunks of customers."""
    from chalicelib.services.customers.import_chunk import WORKER

    return WORKER


@on_messages(LISTING)
def assign_positions() -> Any:
    """Assign list positions to customers that were created without a position."""
    from chalicelib.services.customers.assign_positions import WORKER

    return WORKER


@on_messages(FEEDBACK)
def process_feedback() -> Any:
    """Process new feedback."""
    from chalicelib.services.feedback.process import WORKER

    return WORKER


@on_messages(WEBHOOKS)
def send_webhook() -> Any:
    """Deliver webhooks."""
    from chalicelib.services.webhooks.send import WORKER

    return WORKER


@on_messages(PURCHASES)
def record_purchase() -> Any:
    """Record purchases."""
    from chalicelib.services.purchases.record import WORKER

    return WORKER


@on_messages(SOLICITATIONS)
def send_survey() -> Any:
    """Send surveys to customers after their purchases."""
    from chalicelib.services.solicitation.send_survey import WORKER

    return WORKER


@on_messages(MESSAGE_EVENTS)
def process_message_events() -> Any:
    """Process bounces and complaints."""
    from chalicelib.services.solicitation.process_message_event import WORKER

    return WORKER


@on_messages(ERASURES)
def erase_customer() -> Any:
    """Continue the erasures of customers."""
    from chalicelib.services.erasure.erase import WORKER

    return WORKER


@on_messages(SUPPRESSIONS)
def change_customers() -> Any:
    """Change the customers with a suppressed address."""
    from chalicelib.services.solicitation.change_customers import WORKER

    return WORKER


@app.schedule(Rate(1, unit=Rate.MINUTES))
def sweep(event: CloudWatchEvent) -> None:
    """Requeue overdue work."""
    from chalicelib.functions import sweep as function

    function.sweep(event)


gc.freeze()
gc.enable()
