"""How much the operator can do, measured against a real API server and a real broker. See README.md."""
