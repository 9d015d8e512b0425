"""Demo data of two accounts, the same on every machine.

This package builds it but does not save it.
"""
