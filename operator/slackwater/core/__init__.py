"""Pure decisions: takes values, returns values. No client, no clock, no logging, no I/O (import-linter holds it).

The rooms stand on floors. No import runs up, and rooms on one floor do not know each other (held by a contract, too):

    metrics                                                           what Prometheus is given
    plan | status | telemetry                                         what now; the status; what happened, as events
    protocol | handover | commands | upkeep | deletion | pace | done  the ways there, and what a group always needs
    rollout                                                           gates, the next pod, how rollouts begin and end
    fleet                                                             which groups of a fleet may move
    members | manifests                                               whose a member is, if it lives; what is written
    timeouts                                                          which timeouts members get
    decision                                                          Decision: memory, act, hold, refusal, notes
    world                                                             what may be looked at

`plan.plan(world)` is the entrance to all decisions about a group that is there, `deletion.plan_deletion` to those about
one that is to go.
"""
