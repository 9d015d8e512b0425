"""Send requests to systems that do not store records, such as queues and webhook receivers."""
