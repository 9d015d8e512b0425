"""Models and rules that only operators need, without access to AWS."""
