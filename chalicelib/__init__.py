"""The feedback service: all code that ships to Lambda."""
