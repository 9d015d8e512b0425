"""Domain models and business rules, without access to AWS or HTTP."""
