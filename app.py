"""Wiring only: the Chalice app, its routes and its functions.

Every function's process imports this module, so what one function needs is imported by it alone.
"""

from typing import Any

from chalice import Chalice, Rate
from chalice.app import CloudWatchEvent, SQSEvent

from chalicelib.settings import settings
from chalicelib.web.openapi.routes import routes as description_routes
from chalicelib.web.partner.routes import routes as partner_routes
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from chalicelib.web.public.routes import routes as public_routes
from chalicelib.web.request_log import observe

app = Chalice(app_name="feedback")
# The gateway hands these bodies over in Base64, so that their bytes come through as they are.
app.api.binary_types.append(MULTIPART)
app.register_middleware(observe, "http")
app.register_blueprint(partner_routes)
app.register_blueprint(public_routes)
app.register_blueprint(description_routes)


@app.on_sqs_message(
    queue=settings().resource_name("imports.fifo"), batch_size=5, maximum_concurrency=20
)
def import_customers(event: SQSEvent) -> Any:
    """Chunks of imports."""
    from chalicelib.functions import import_customers as function

    return function.import_customers(event)


@app.on_sqs_message(
    queue=settings().resource_name("feedback"),
    batch_size=25,
    maximum_batching_window_in_seconds=1,
    maximum_concurrency=5,
)
def process_feedback(event: SQSEvent) -> Any:
    """Feedback that was just given."""
    from chalicelib.functions import process_feedback as function

    return function.process_feedback(event)


@app.on_sqs_message(
    queue=settings().resource_name("webhooks"), batch_size=10, maximum_concurrency=50
)
def send_webhook(event: SQSEvent) -> Any:
    """Webhooks that workflows send."""
    from chalicelib.functions import send_webhook as function

    return function.send_webhook(event)


@app.schedule(Rate(1, unit=Rate.MINUTES))
def sweep(event: CloudWatchEvent) -> None:
    """Whatever is overdue."""
    from chalicelib.functions import sweep as function

    function.sweep(event)
