"""The operator command line. It is not deployed to Lambda."""
