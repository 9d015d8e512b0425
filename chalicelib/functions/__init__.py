"""Handlers of queue and schedule events. `app.py` binds them."""
