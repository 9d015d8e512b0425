"""Calls to other systems: queues, mail, text messages, webhook receivers."""
