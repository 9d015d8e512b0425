"""Measure the cost and speed of the service and write one report."""
