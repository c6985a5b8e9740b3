"""From one rebalance protocol to another without a broken step: profiles, strategies, preflight, the way in hand."""
