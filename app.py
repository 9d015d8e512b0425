"""Wiring only: the Chalice app, its routes and its functions."""

from chalice import Chalice

from chalicelib.web.description_routes import routes as description_routes
from chalicelib.web.observation import observe
from chalicelib.web.partner_routes import routes as partner_routes

app = Chalice(app_name="feedback")
app.register_middleware(observe, "http")
app.register_blueprint(partner_routes)
app.register_blueprint(description_routes)
