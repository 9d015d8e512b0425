"""Demo data of two accounts.

The data is the same on every machine. This package builds the data but does not save it.
"""
