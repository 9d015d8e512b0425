"""Wiring only: the Chalice app, its routes and its functions."""

from chalice import Chalice, Rate

from chalicelib.functions.import_customers import import_customers as do_import_customers
from chalicelib.functions.process_feedback import process_feedback as do_process_feedback
from chalicelib.functions.sweep import sweep as do_sweep
from chalicelib.settings import settings
from chalicelib.web.description_routes import routes as description_routes
from chalicelib.web.multipart import MEDIA_TYPE as MULTIPART
from chalicelib.web.observation import observe
from chalicelib.web.partner_routes import routes as partner_routes
from chalicelib.web.public_routes import routes as public_routes

app = Chalice(app_name="feedback")
# The gateway hands these bodies over in Base64, so that their bytes come through as they are.
app.api.binary_types.append(MULTIPART)
app.register_middleware(observe, "http")
app.register_blueprint(partner_routes)
app.register_blueprint(public_routes)
app.register_blueprint(description_routes)

# Chalice deploys a function under its attribute's name here.
import_customers = app.on_sqs_message(
    queue=settings().resource_name("imports.fifo"),
    batch_size=10,
    maximum_concurrency=20,
    name="import_customers",
)(do_import_customers)
process_feedback = app.on_sqs_message(
    queue=settings().resource_name("feedback"),
    batch_size=25,
    maximum_batching_window_in_seconds=1,
    maximum_concurrency=5,
    name="process_feedback",
)(do_process_feedback)
sweep = app.schedule(Rate(1, unit=Rate.MINUTES), name="sweep")(do_sweep)
