"""What the service runs on, and how it gets there: stacks, policies, deployment, the local cloud."""
