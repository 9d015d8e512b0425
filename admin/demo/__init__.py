"""Demo data of two accounts. Only its dates depend on the day on which it is loaded.

This package builds it but does not save it.
"""
