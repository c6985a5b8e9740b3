"""`slackwater adopt`: makes a StatefulSet that runs a ConsumerGroup's, without restarting a pod (ADR 11).

refusals    why it cannot be, or not now
at_rest     does it, or what was beside it, wait for what will not come by itself?
steps       what is left to do, one step at a time
command     doing it, or showing what it would do
"""
