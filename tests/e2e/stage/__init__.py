"""What all end-to-end tests play on: the cluster, the brokers, operators as processes, recorders, waiting."""
