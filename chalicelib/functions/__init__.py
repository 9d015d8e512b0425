"""Handlers of queue and schedule events. `app.py` registers them as Lambda functions."""
