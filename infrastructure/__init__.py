"""CloudFormation stacks, the function manifest, deployment, and the local cloud."""
