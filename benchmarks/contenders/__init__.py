"""The implementations to compare. Each module has a Lambda function named `handler`."""
