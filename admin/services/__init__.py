"""The use cases that only operators have."""
