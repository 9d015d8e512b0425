"""The operator's command line. It is not shipped to Lambda."""
