"""The timeouts that members get: the spec's, adopted ones, those that the brokers allow.

in_force        what is asked for: by the spec, by a recommendation, or by nobody
classic         a classic member's timeouts as one set that fits together, held within what the brokers allow
group_settings  session and heartbeat that the brokers keep for a KIP-848 group
judgement       is a recommendation fit to be applied, and what would it change?
adoption        when does it come into force: at once, with the next rollout, or once a person approves?
reading         a recommendation as it travels becomes what the operator looks at
"""
