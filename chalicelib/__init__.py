"""The feedback service: everything that is shipped to Lambda."""
