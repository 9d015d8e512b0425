"""Handle queue messages and schedule events.

`app.py` registers the handlers as Lambda functions.
"""
