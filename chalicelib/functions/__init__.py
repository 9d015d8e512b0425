"""Queue and schedule events."""
