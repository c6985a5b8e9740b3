"""What Prometheus is given: figures of one group, and times that add up over looks."""
