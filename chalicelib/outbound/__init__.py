"""Requests to other systems: SQS queues and webhook receivers."""
