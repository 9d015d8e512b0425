"""The feedback service: all code that is deployed to Lambda."""
