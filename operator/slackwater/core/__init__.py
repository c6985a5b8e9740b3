"""Pure decisions: takes values, returns values. No client, no clock, no logging, no I/O (import-linter holds it)."""
