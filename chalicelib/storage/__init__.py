"""Storage in DynamoDB. Each module contains the PynamoDB model and the repository of a table."""
