"""Demo data: two accounts that are the same on every machine. Pure; nothing here saves it."""
