"""Handle schedule events.

`app.py` registers the handlers as Lambda functions.
"""
