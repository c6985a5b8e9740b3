"""The demo's last part: a group's own rollouts and crashes, and what the operator learns from them.

history    makes restarts happen: one rollout, crashes, and pods that find no node
chronicle  the operator's telemetry, as it grows
jobs       `slackwater pipeline`, as a person runs it
lesson     what came of it, and whether it is what should             (pure)
loop       one after the other
"""
