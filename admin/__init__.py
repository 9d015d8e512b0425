"""The command line for operators. It is not deployed to Lambda."""
