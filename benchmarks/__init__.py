"""What the service costs: measured in one run, written as one report."""
