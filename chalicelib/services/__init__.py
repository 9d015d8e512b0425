"""What the service does: one file a use. HTTP, queues and the command line share them."""
