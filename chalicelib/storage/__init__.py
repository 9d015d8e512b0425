"""Store records in DynamoDB. Each module contains a table's PynamoDB model and repository."""
