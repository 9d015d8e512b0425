"""The handlers that are measured side by side; each module's `handler` is a Lambda function."""
