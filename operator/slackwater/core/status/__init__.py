"""What a ConsumerGroup's status says."""
