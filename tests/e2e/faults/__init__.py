"""The operator killed, Kafka or the API server away, objects changed behind its back."""
