"""What the service runs on, and how it gets there: stacks, policies, the local cloud."""
