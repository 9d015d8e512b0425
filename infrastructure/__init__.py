"""Define, generate and deploy the infrastructure, and run the local cloud."""
