"""The resource types of `slackwater.dev/v1alpha1`: what people write, what the operator reads and reports.

The bottom layer. It imports pydantic and the standard library only, and no other part of slackwater.
"""
