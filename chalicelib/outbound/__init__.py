"""Send requests to other systems: SQS queues and webhook receivers."""
