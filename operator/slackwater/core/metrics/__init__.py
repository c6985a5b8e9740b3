"""What Prometheus is given: figures of one group, and times that add up over looks.

figures       what is so after a decision
idle_time     for how long did nobody read, in partition-seconds?
lag_time      how old is what is read now, in seconds?
step_results  how did each step of a rollout end?
"""
