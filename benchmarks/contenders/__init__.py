"""The implementations that the benchmarks compare.

In each module, `handler` is the Lambda function.
"""
