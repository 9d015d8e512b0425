"""The operator's command line. It does not ship to Lambda."""
