"""What leaves the service: queues, mail, text messages, webhooks."""
