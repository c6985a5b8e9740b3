"""The `slackwater` command."""
