"""Queue and schedule events: what the functions beside the HTTP one do. Bound in ``app.py``."""
