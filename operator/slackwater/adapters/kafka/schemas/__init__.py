"""Messages of Kafka's public protocol that kafka-python lacks: JSON files in its schema format, beside this one."""
