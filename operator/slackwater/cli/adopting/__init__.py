"""`slackwater adopt`: makes a StatefulSet that runs a ConsumerGroup's, without restarting a pod (ADR 11)."""
