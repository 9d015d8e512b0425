"""Stacks, function manifest, deployment and the local cloud."""
