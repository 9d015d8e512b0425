"""The compared handlers. Each module's `handler` is a Lambda function."""
