"""The consumers of examples/consumers keep the contract of docs/prepare-your-consumer.md on a real broker.

- `broker` one Kafka on a port of the loopback interface, for as long as a test module needs it
- `building` how each consumer whose toolchain is here is built, and the command that runs it
- `running` a consumer's process: what it has processed, how it ended
"""
