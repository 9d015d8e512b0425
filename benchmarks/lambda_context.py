"""A replacement for the context object that Lambda passes to a function."""

from typing import Final


class LambdaContext:
    """The attributes of the Lambda context that the app reads."""

    function_name: Final = "feedback-bench"
    memory_limit_in_mb: Final = 1024
    invoked_function_arn: Final = "arn:aws:lambda:eu-west-1:123456789012:function:feedback-bench"
    aws_request_id: Final = "b2d9c8a7-5f1c-4a0e-8b2d-9c8a7f6e5d4c"
