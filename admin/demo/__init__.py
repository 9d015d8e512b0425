"""The demo data: two accounts, the same on every machine. Nothing here writes it."""
