"""Use cases about purchases that only operators have."""
