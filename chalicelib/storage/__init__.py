"""Store records in DynamoDB. A module contains the model, the reads and the writes of a table."""
