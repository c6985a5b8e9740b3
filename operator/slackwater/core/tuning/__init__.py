"""What becomes of recommended timeouts: shown, kept for the next rollout, or in force. Pure, as all of core."""
