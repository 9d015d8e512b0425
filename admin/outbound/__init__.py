"""AWS services that only operators call."""
