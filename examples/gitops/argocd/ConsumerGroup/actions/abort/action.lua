-- The value is a token: the operator obeys a new one once, and repeats it in status.commands.
local os = require("os")
obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["slackwater.dev/abort"] = os.date("!%Y-%m-%dT%XZ")
return obj
