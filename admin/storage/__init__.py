"""Tables and reads of several tables that only operators need."""
