"""Groups taken to another rebalance protocol, and whatever comes in between."""
