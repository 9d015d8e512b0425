"""Wiring only: the Chalice app, its routes and its functions."""

from chalice import Chalice, Rate

from chalicelib.functions.import_customers import import_customers as do_import_customers
from chalicelib.functions.sweep import sweep as do_sweep
from chalicelib.settings import settings
from chalicelib.web.description_routes import routes as description_routes
from chalicelib.web.observation import observe
from chalicelib.web.partner_routes import routes as partner_routes

app = Chalice(app_name="feedback")
app.register_middleware(observe, "http")
app.register_blueprint(partner_routes)
app.register_blueprint(description_routes)

# Chalice deploys a function under its attribute's name here.
import_customers = app.on_sqs_message(
    queue=settings().resource_name("imports.fifo"),
    batch_size=10,
    maximum_concurrency=20,
    name="import_customers",
)(do_import_customers)
sweep = app.schedule(Rate(1, unit=Rate.MINUTES), name="sweep")(do_sweep)
