"""Register the routes, the queue handlers and the schedule with Chalice.

Every Lambda function imports this module at start-up, so each handler imports the code that it
needs only when it is called.
"""
# ruff: noqa: E402 - the collection of garbage is off during the imports

import gc
import os
from importlib import import_module
from pathlib import Path
from typing import Any

# Nothing that the start creates becomes garbage. A collection would only delay the first response.
gc.disable()

# Chalice's command line imports this file. The deployed app contains no folder `infrastructure`.
if "AWS_CHALICE_CLI_MODE" in os.environ and Path(__file__).with_name("infrastructure").is_dir():
    from infrastructure.chalice_commands import run_instead

    run_instead()

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
from chalicelib.web.partner.account_routes import routes as account_routes
from chalicelib.web.partner.consent_routes import routes as consent_routes
from chalicelib.web.partner.customer_routes import routes as customer_routes
from chalicelib.web.partner.feedback_routes import routes as feedback_routes
from chalicelib.web.partner.form_routes import routes as form_routes
from chalicelib.web.partner.purchase_routes import routes as purchase_routes
from chalicelib.web.partner.survey_tracker_routes import routes as survey_tracker_routes
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
for blueprint in (
    consent_routes,
    customer_routes,
    purchase_routes,
    survey_tracker_routes,
    feedback_routes,
    form_routes,
    webhook_routes,
    account_routes,
    public_routes,
    message_routes,
    description_routes,
):
    app.register_blueprint(blueprint)


def on_messages(name: str, queue: Queue, module: str) -> Any:
    """Register a Lambda function for the messages of a queue.

    Args:
        module: the module of `chalicelib` whose ``WORKER`` declares the work.
    """

    def handle(event: SQSEvent) -> Any:
        from chalicelib.services.work.partial_batch import process_batch

        worker = import_module(f"chalicelib.{module}").WORKER
        return process_batch(worker, event.to_dict()["Records"], event.context)

    handle.__name__ = name
    register = app.on_sqs_message(
        queue=settings().resource_name(queue.name),
        batch_size=queue.batch_size,
        maximum_batching_window_in_seconds=queue.batch_window_s,
        maximum_concurrency=queue.max_concurrency,
    )
    return register(handle)


import_customers = on_messages("import_customers", IMPORTS, "services.customers.import_chunk")
assign_positions = on_messages("assign_positions", LISTING, "services.customers.assign_positions")
process_feedback = on_messages("process_feedback", FEEDBACK, "services.feedback.process")
send_webhook = on_messages("send_webhook", WEBHOOKS, "services.webhooks.send")
record_purchase = on_messages("record_purchase", PURCHASES, "services.purchases.record")
send_survey = on_messages("send_survey", SOLICITATIONS, "services.solicitation.send_survey")
process_message_events = on_messages(
    "process_message_events", MESSAGE_EVENTS, "services.solicitation.process_message_event"
)
erase_customer = on_messages("erase_customer", ERASURES, "services.erasure.erase")
change_customers = on_messages(
    "change_customers", SUPPRESSIONS, "services.solicitation.change_customers"
)


@app.schedule(Rate(1, unit=Rate.MINUTES))
def sweep(event: CloudWatchEvent) -> None:
    """Requeue overdue work."""
    from chalicelib.services.sweeper import run_sweeper

    run_sweeper(event.context)


gc.freeze()
gc.enable()
