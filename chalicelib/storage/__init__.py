"""One file a table: its PynamoDB model and its repository."""
